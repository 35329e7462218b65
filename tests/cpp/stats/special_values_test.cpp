// SPDX-License-Identifier: Apache-2.0
// What NaN, infinities, zeros of both signs and denormals do to each number: written out case by case.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "stats/dispatch.h"
#include "stats/expected.h"

namespace msprobe::stats {
namespace {

using testing::tensor_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class SpecialValuesTest : public ::testing::TestWithParam<const KernelTable*> {
 protected:
  // The same values as float64 and as float32, which go through different kernels.
  static std::vector<Stats> stats_of(const std::vector<double>& values) {
    const std::vector<float> narrow(values.begin(), values.end());
    return {compute_with(*GetParam(), tensor_of(DType::kFloat64, values).view()),
            compute_with(*GetParam(), tensor_of(DType::kFloat32, narrow).view())};
  }

  // `special` at each place of an otherwise plain tensor, so that it meets the vector part and the rest.
  template <class Check>
  static void at_each_place(double special, Check&& check) {
    for (std::size_t place = 0; place < 40; ++place) {
      std::vector<double> values(40, 2);
      values[(place + 7) % 40] = -3;
      values[place] = special;
      for (const Stats& stats : stats_of(values)) {
        check(stats);
      }
    }
  }
};

TEST_P(SpecialValuesTest, ANanMakesAllNumbersNan) {
  for (const double nan : {kNan, -kNan, std::numeric_limits<double>::signaling_NaN()}) {
    at_each_place(nan, [](const Stats& stats) {
      EXPECT_TRUE(std::isnan(stats.max.real) && std::isnan(stats.min.real) && std::isnan(stats.mean) && std::isnan(stats.norm));
      EXPECT_EQ(stats.nan, 1);
      EXPECT_EQ(stats.pos_inf + stats.neg_inf + stats.zero, 0);
    });
  }
}

TEST_P(SpecialValuesTest, PositiveInfinity) {
  at_each_place(kInf, [](const Stats& stats) {
    EXPECT_EQ(stats.max.real, kInf);
    EXPECT_EQ(stats.min.real, -3);
    EXPECT_EQ(stats.mean, kInf);
    EXPECT_EQ(stats.norm, kInf);
    EXPECT_EQ(stats.pos_inf, 1);
    EXPECT_EQ(stats.nan + stats.neg_inf + stats.zero, 0);
  });
}

TEST_P(SpecialValuesTest, NegativeInfinity) {
  at_each_place(-kInf, [](const Stats& stats) {
    EXPECT_EQ(stats.max.real, 2);
    EXPECT_EQ(stats.min.real, -kInf);
    EXPECT_EQ(stats.mean, -kInf);
    EXPECT_EQ(stats.norm, kInf);
    EXPECT_EQ(stats.neg_inf, 1);
  });
}

TEST_P(SpecialValuesTest, BothInfinitiesHaveNoMean) {
  for (const Stats& stats : stats_of({1, kInf, 2, -kInf, kInf})) {
    EXPECT_EQ(stats.max.real, kInf);
    EXPECT_EQ(stats.min.real, -kInf);
    EXPECT_TRUE(std::isnan(stats.mean));
    EXPECT_EQ(stats.norm, kInf);
    EXPECT_EQ(stats.pos_inf, 2);
    EXPECT_EQ(stats.neg_inf, 1);
  }
}

TEST_P(SpecialValuesTest, NanWinsOverInfinity) {
  for (const Stats& stats : stats_of({kInf, kNan})) {
    EXPECT_TRUE(std::isnan(stats.max.real) && std::isnan(stats.min.real) && std::isnan(stats.mean) && std::isnan(stats.norm));
    EXPECT_EQ(stats.pos_inf, 1);
    EXPECT_EQ(stats.nan, 1);
  }
}

TEST_P(SpecialValuesTest, ZerosOfBothSignsCountAndComeOutPositive) {
  for (const auto& values : {std::vector<double>{-0.0, -0.0}, {0.0, -0.0}, std::vector<double>(50, -0.0)}) {
    for (const Stats& stats : stats_of(values)) {
      EXPECT_EQ(stats.zero, static_cast<std::int64_t>(values.size()));
      EXPECT_FALSE(std::signbit(stats.max.real) || std::signbit(stats.min.real));
      EXPECT_EQ(stats.max.real, 0);
      EXPECT_EQ(stats.norm, 0);
    }
  }
}

// In a long tensor only one span holds the special; the others' sums must not be lost or let through.
TEST_P(SpecialValuesTest, SpecialsInOneSpanOfMany) {
  std::vector<float> values(300000, 1.0F);
  values[200000] = static_cast<float>(kInf);
  values[5] = 9;
  values[299999] = -9;
  const Stats stats = compute_with(*GetParam(), tensor_of(DType::kFloat32, values).view());
  EXPECT_EQ(stats.max.real, kInf);
  EXPECT_EQ(stats.min.real, -9);
  EXPECT_EQ(stats.mean, kInf);
  EXPECT_EQ(stats.pos_inf, 1);
}

TEST_P(SpecialValuesTest, DenormalsAreNoZeros) {
  const std::vector<double> doubles(40, std::numeric_limits<double>::denorm_min());
  const Stats wide = compute_with(*GetParam(), tensor_of(DType::kFloat64, doubles).view());
  EXPECT_EQ(wide.zero, 0);
  EXPECT_EQ(wide.mean, std::numeric_limits<double>::denorm_min());
  const std::vector<float> floats(40, std::numeric_limits<float>::denorm_min());
  const Stats narrow = compute_with(*GetParam(), tensor_of(DType::kFloat32, floats).view());
  EXPECT_EQ(narrow.zero, 0);
  EXPECT_EQ(narrow.max.real, std::numeric_limits<float>::denorm_min());
  EXPECT_DOUBLE_EQ(narrow.norm, std::sqrt(40.0) * std::numeric_limits<float>::denorm_min());
}

#if defined(__x86_64__)
// torch.set_flush_denormal(True) sets these bits on the calling thread.
TEST_P(SpecialValuesTest, FlushModeOfTheCallerIsKeptOutAndRestored) {
  constexpr unsigned kFlush = 0x8040;
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | kFlush);
  const std::vector<float> floats(40, std::numeric_limits<float>::denorm_min());
  const Stats stats = compute_with(*GetParam(), tensor_of(DType::kFloat32, floats).view());
  const unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(stats.zero, 0);
  EXPECT_EQ(stats.mean, std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(after & kFlush, kFlush);
}
#endif

TEST_P(SpecialValuesTest, ComplexInfinityWinsOverNan) {
  for (const auto& pair : {std::vector<double>{kInf, kNan}, {kNan, -kInf}, {-kInf, 1}}) {
    std::vector<double> doubles(60, 1);
    doubles[20] = pair[0];
    doubles[21] = pair[1];
    const std::vector<float> floats(doubles.begin(), doubles.end());
    const std::int64_t sizes[] = {30};
    const std::int64_t strides[] = {1};
    const TensorView views[] = {{doubles.data(), DType::kComplex128, sizes, strides},
                                {floats.data(), DType::kComplex64, sizes, strides}};
    for (const TensorView& view : views) {
      const Stats stats = compute_with(*GetParam(), view);
      EXPECT_EQ(stats.pos_inf, 1);
      EXPECT_EQ(stats.nan + stats.neg_inf, 0);
      EXPECT_EQ(stats.max.real, kInf);
      EXPECT_DOUBLE_EQ(stats.min.real, std::sqrt(2.0));
    }
  }
}

TEST_P(SpecialValuesTest, EmptyAndScalar) {
  const std::int64_t sizes[] = {3, 0};
  const std::int64_t strides[] = {1, 1};
  const Stats empty = compute_with(*GetParam(), {nullptr, DType::kFloat32, sizes, strides});
  EXPECT_EQ(empty.count, 0);
  EXPECT_EQ(empty.max.kind, Extreme::Kind::kNone);
  const double value = -2.5;
  const Stats scalar = compute_with(*GetParam(), {&value, DType::kFloat64, {}, {}});
  EXPECT_EQ(scalar.count, 1);
  EXPECT_EQ(scalar.max.real, -2.5);
  EXPECT_EQ(scalar.mean, -2.5);
  EXPECT_EQ(scalar.norm, 2.5);
}

INSTANTIATE_TEST_SUITE_P(Targets, SpecialValuesTest, ::testing::ValuesIn(available_kernels()),
                         [](const auto& parameters) { return std::string(parameters.param->name); });

}  // namespace
}  // namespace msprobe::stats

// SPDX-License-Identifier: Apache-2.0
// E against the formula worked out by hand, and each difference that is hard or says nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/divergence_rule.h"
#include "divergence_case.h"

namespace msprobe::compare::divergence {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Place measured(const Tensor& target, const Tensor& golden) { return measure(leaf_of(target), leaf_of(golden)); }

TEST(Distance, EachNumberHasItsWeight) {
  // n = 4096: sqrt(n) = 64 = the bound; 4 * norm / peak = 128.
  const Tensor golden{.numbers = {1, -0.5, 0.1, 32}};
  const double rms = 32.0 / 64;
  const auto check = [&](std::array<double, 4> target, Statistic statistic, double expected) {
    const Place place = measured({.numbers = target}, golden);
    EXPECT_EQ(place.finding, Finding::kDistance);
    EXPECT_EQ(place.statistic, statistic);
    EXPECT_NEAR(place.distance, expected, 1e-6 * expected);
  };
  check({1.25, -0.5, 0.1, 32}, Statistic::kMax, 0.25);
  check({1, -0.75, 0.1, 32}, Statistic::kMin, 0.25);
  check({1, -0.5, 0.11, 32}, Statistic::kMean, 0.01 / rms * 64 / 4);
  check({1, -0.5, 0.1, 33}, Statistic::kNorm, (1.0 / 32 - kFloat32Sums) * 64 / 6);
  EXPECT_EQ(measured(golden, golden).distance, 0);
  EXPECT_EQ(measured(golden, golden).finding, Finding::kDistance);
}

TEST(Distance, TheSampleIsBoundedByElementsAndByAFewLargeOnes) {
  // 16 elements: s = 4.
  EXPECT_NEAR(measured({.shape = "[4, 4]", .numbers = {1, -1, 0, 2.2}}, {.shape = "[4, 4]", .numbers = {1, -1, 0, 2}}).distance,
              (0.1 - kFloat32Sums) * 4 / 6, 1e-7);
  // One element holds the norm: s = 4 * 10 / 10 = 4 instead of 64.
  EXPECT_NEAR(measured({.numbers = {10, -1, 0, 11}}, {.numbers = {10, -1, 0, 10}}).distance, (0.1 - kFloat32Sums) * 4 / 6,
              1e-7);
}

// A device that sums in float32 gives the same tensor other last bits: at E's weights that would be tens of units.
TEST(Distance, LastBitsOfFloat32SumsSayNothing) {
  const auto distance = [](double mean, double norm, double golden_mean, double golden_norm) {
    return measured({.numbers = {1, -1, mean, norm}}, {.numbers = {1, -1, golden_mean, golden_norm}}).distance;
  };
  const double mean = 0.1;
  const double norm = 32.1;
  const float near_norm = std::nextafter(std::nextafter(static_cast<float>(norm), 40.0F), 40.0F);
  const float near_mean = std::nextafter(static_cast<float>(mean), 1.0F);
  EXPECT_EQ(distance(near_mean, near_norm, mean, norm), 0);
  EXPECT_EQ(distance(mean, norm, near_mean, near_norm), 0);
  EXPECT_EQ(distance(near_mean, near_norm, static_cast<float>(mean), static_cast<float>(norm)), 0);
  EXPECT_GT(distance(near_mean, near_norm * 1.00001F, mean, norm), 4 * 0x1p-24);
  // Sums in float64 count to the last bit, and so do Max and Min.
  EXPECT_GT(distance(mean, norm * (1 + 1e-7), mean, norm), 0);
  EXPECT_GT(measured({.numbers = {1 + 0x1p-23, -1, mean, norm}}, {.numbers = {1, -1, mean, norm}}).distance, 0);
}

TEST(Distance, NumbersThatOneSideLacksAreLeftOut) {
  const Tensor golden{.numbers = {1, -1, 0, 0}, .known = 0b0011};
  EXPECT_NEAR(measured({.numbers = {1.5, -1, 7, 9}}, golden).distance, 0.5, 1e-7);
  EXPECT_EQ(measured({.known = 0}, golden).finding, Finding::kSkipped);
}

TEST(Hard, ShapesAndTensorsOfOneSide) {
  EXPECT_EQ(measured({.shape = "[64, 63]"}, {}).finding, Finding::kShape);
  EXPECT_EQ(measured({.shape = "[1, 64, 64]"}, {}).finding, Finding::kDistance) << "a dimension of 1 moves no element";
  EXPECT_EQ(measured({.shape = "[64, 63]", .numbers = {}, .known = 0}, {}).finding, Finding::kShape) << "numbers do not matter";
  EXPECT_EQ(measure_one_sided(Side::kTarget, leaf_of({})).finding, Finding::kMissing);
  EXPECT_EQ(measure_one_sided(Side::kGolden, leaf_of({.shape = "[0, 4]"})).finding, Finding::kSkipped)
      << "an empty one is no loss";
}

TEST(Hard, AnotherPatternOfNumbersThatAreNotFinite) {
  const Tensor finite;
  for (const double bad : {kNan, kInf, -kInf}) {
    for (std::size_t at = 0; at < 4; ++at) {
      Tensor special;
      special.numbers[at] = bad;
      EXPECT_EQ(measured(special, finite).finding, Finding::kNotFinite) << bad << " at " << at;
      EXPECT_EQ(measured(finite, special).finding, Finding::kNotFinite) << bad << " at " << at;
      EXPECT_EQ(measured(special, special).finding, Finding::kSkipped) << bad << " at " << at;
    }
  }
  EXPECT_EQ(measured({.numbers = {kInf, -1, kInf, kInf}}, {.numbers = {1, -kInf, -kInf, kInf}}).finding, Finding::kNotFinite);
  EXPECT_EQ(measured({.numbers = {kNan, kNan, kNan, kNan}}, {.numbers = {kInf, -1, kInf, kInf}}).finding, Finding::kNotFinite);
}

TEST(Hard, GoldenAllZero) {
  const Tensor zero{.numbers = {0, 0, 0, 0}};
  EXPECT_EQ(measured({}, zero).finding, Finding::kGoldenZero);
  EXPECT_EQ(measured(zero, zero).finding, Finding::kSkipped);
  EXPECT_EQ(measured(zero, {}).finding, Finding::kDistance) << "the other way round the formula holds";
}

TEST(Skipped, EmptyTensorsAndMasks) {
  EXPECT_EQ(measured({.shape = "[0, 4]", .known = 0}, {.shape = "[0, 4]", .known = 0}).finding, Finding::kSkipped);
  const Tensor fp32_mask{.numbers = {0, -3.4e38, -1e38, kInf}};
  const Tensor fp16_mask{.dtype = DType::kFloat16, .numbers = {0, -65504, -3e4, 2e6}};
  const Tensor inf_mask{.numbers = {0, -kInf, -kInf, kInf}};
  EXPECT_EQ(measured(fp16_mask, fp32_mask).finding, Finding::kSkipped);
  EXPECT_EQ(measured(fp32_mask, fp16_mask).finding, Finding::kSkipped);
  EXPECT_EQ(measured(inf_mask, inf_mask).finding, Finding::kSkipped);
  EXPECT_EQ(measured(inf_mask, fp32_mask).finding, Finding::kSkipped);
  EXPECT_EQ(measured({.numbers = {0, -1000, -30, 5000}}, fp32_mask).finding, Finding::kNotFinite)
      << "-1000 masks nothing in fp16";
  Tensor overflow = inf_mask;
  overflow.numbers[0] = kInf;
  EXPECT_EQ(measured(overflow, fp32_mask).finding, Finding::kNotFinite) << "a mask has no +Inf";
}

TEST(Skipped, TypesWithoutNumbersAndFloatsAgainstIntegers) {
  EXPECT_EQ(measured({.dtype = DType::kUnknown}, {.dtype = DType::kUnknown}).finding, Finding::kSkipped);
  EXPECT_EQ(measured({.dtype = DType::kBool}, {}).finding, Finding::kSkipped);
  EXPECT_EQ(measured({.dtype = DType::kBFloat16}, {}).finding, Finding::kDistance);
}

TEST(Integers, AreComparedExactly) {
  EXPECT_EQ(measured(integers(7, 3.5), integers(7, 3.5)).finding, Finding::kSame);
  EXPECT_EQ(measured(integers(7, 3.5), integers(7, 3.625)).finding, Finding::kDiffers);
  EXPECT_EQ(measured(integers(8, 3.5), integers(7, 3.5)).finding, Finding::kDiffers);
  EXPECT_EQ(measured(integers(1, 0.5, DType::kBool), integers(1, 0.5, DType::kBool)).finding, Finding::kSame);
  EXPECT_EQ(measured(integers(1, 0.5, DType::kInt32), integers(1, 0.5)).finding, Finding::kSame);
  EXPECT_EQ(measured(integers(7, 1 / 3.0), integers(7, 1 / 3.0F)).finding, Finding::kSame) << "a float32 mean is rounded";
  EXPECT_EQ(measured(integers(7, 0.1), integers(7, 0.1 + 1e-12)).finding, Finding::kDiffers) << "both are float64";
}

TEST(Integers, HaveAnIdentity) {
  const Place one = measured(integers(8, 3), integers(7, 3));
  EXPECT_EQ(one.identity, measured(integers(8, 3), integers(7, 3)).identity);
  EXPECT_NE(one.identity, measured(integers(9, 3), integers(7, 3)).identity);
  EXPECT_NE(one.identity, measured(integers(8, 3), integers(6, 3)).identity);
}

TEST(Unit, IsHalfAUnitInTheLastPlace) {
  EXPECT_EQ(unit_of(DType::kFloat32), std::ldexp(1.0, -24));
  EXPECT_EQ(unit_of(DType::kFloat16), std::ldexp(1.0, -11));
  EXPECT_EQ(unit_of(DType::kBFloat16), std::ldexp(1.0, -8));
  EXPECT_EQ(unit_of(DType::kFloat64), unit_of(DType::kFloat32));
}

TEST(Sizes, OfAPrintedShape) {
  EXPECT_EQ(sizes_of("[2, 8]"), (std::vector<std::int64_t>{2, 8}));
  EXPECT_TRUE(sizes_of("[]").empty());
  EXPECT_TRUE(sizes_of("N/A").empty());
}

}  // namespace
}  // namespace msprobe::compare::divergence

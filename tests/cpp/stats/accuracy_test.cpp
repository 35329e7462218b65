// SPDX-License-Identifier: Apache-2.0
// Means of nearly cancelling values, norms at the ends of the exponent range, and 100 million elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stats/dispatch.h"
#include "stats/expected.h"

namespace msprobe::stats {
namespace {

using testing::Random;
using testing::tensor_of;

TensorView contiguous(const void* data, DType dtype, const std::int64_t* size) {
  static constexpr std::int64_t kOne[] = {1};
  return {data, dtype, {size, 1}, kOne};
}

// A cheap generator: the standard ones would take longer than what is tested.
class Mixer {
 public:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
  }

 private:
  std::uint64_t state_ = 1;
};

// Random sign and mantissa, exponents from 2^-20 to 2^3.
float wide_ranging_float(Mixer& mixer) {
  const std::uint64_t bits = mixer.next();
  const auto exponent = static_cast<std::uint32_t>(107 + (bits >> 40) % 24);
  return std::bit_cast<float>((exponent << 23) | static_cast<std::uint32_t>(bits & 0x807FFFFFU));
}

constexpr std::int64_t kHundredMillion = 100'000'000;

// Every value but two has its negative somewhere far away: the sum is what the two add up to, 1e-11 of the magnitudes' sum.
TEST(HundredMillionTest, CancellingFloat32) {
  std::vector<float> values(kHundredMillion);
  Mixer mixer;
  long double squares = 0;
  for (std::size_t index = 0; index < values.size() / 2; ++index) {
    const float value = wide_ranging_float(mixer);
    values[index] = value;
    values[values.size() - 1 - index] = -value;
    squares += 2 * static_cast<long double>(value) * value;
  }
  const std::size_t middle = values.size() / 2;
  squares -= 2 * static_cast<long double>(values[middle]) * values[middle];
  values[middle] = 1e-3F;
  values[middle - 1] = 2e-7F;
  const double sum = static_cast<double>(1e-3F) + static_cast<double>(2e-7F);
  const Stats stats = compute(contiguous(values.data(), DType::kFloat32, &kHundredMillion));
  EXPECT_EQ(stats.count, kHundredMillion);
  EXPECT_NEAR(stats.mean, sum / kHundredMillion, 1e-6 * sum / kHundredMillion);
  EXPECT_NEAR(stats.norm, static_cast<double>(std::sqrt(squares)), 1e-9 * stats.norm);
}

TEST(HundredMillionTest, BFloat16) {
  std::vector<std::uint16_t> codes(kHundredMillion);
  Mixer mixer;
  std::int64_t sum = 0;  // in units of 2^-20: exact
  long double squares = 0;
  for (std::uint16_t& code : codes) {
    const std::uint64_t bits = mixer.next();
    code = static_cast<std::uint16_t>(((bits & 1U) << 15) | ((114 + (bits >> 1) % 20) << 7) | ((bits >> 32) & 0x7FU));
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
    sum += static_cast<std::int64_t>(value * 0x1p20F);
    squares += static_cast<long double>(value) * value;
  }
  const Stats stats = compute(contiguous(codes.data(), DType::kBFloat16, &kHundredMillion));
  const double mean = std::ldexp(static_cast<double>(sum), -20) / kHundredMillion;
  EXPECT_NEAR(stats.mean, mean, 1e-12 * std::abs(mean));
  EXPECT_NEAR(stats.norm, static_cast<double>(std::sqrt(squares)), 1e-12 * stats.norm);
}

class AccuracyTest : public ::testing::TestWithParam<const KernelTable*> {
 protected:
  template <class Value>
  static Stats stats_of(DType dtype, const std::vector<Value>& values) {
    return compute_with(*GetParam(), tensor_of(dtype, values).view());
  }
};

// Where a sum of doubles gives 0 for each group of four, and a plain compensated one may too.
TEST_P(AccuracyTest, SmallTermsBesideHugeOnes) {
  std::vector<double> values;
  for (int group = 0; group < 10000; ++group) {
    values.insert(values.end(), {1.0, 1e100, 1.0, -1e100});
  }
  EXPECT_EQ(stats_of(DType::kFloat64, values).mean, 0.5);
}

TEST_P(AccuracyTest, ShuffledPairsOfFloat64) {
  Random random(5);
  std::vector<double> values{0.125};
  for (int pair = 0; pair < 200000; ++pair) {
    // Below 2^43 in steps of 2^-30: one double could hold neither the partial sums nor the result to 6 digits.
    const double value = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 20) - 30);
    values.push_back(value);
    values.push_back(-value);
  }
  std::shuffle(values.begin(), values.end(), random);
  const double mean = 0.125 / static_cast<double>(values.size());
  EXPECT_NEAR(stats_of(DType::kFloat64, values).mean, mean, 1e-6 * mean);
}

TEST_P(AccuracyTest, ShuffledPairsOfFloat32AndFloat16) {
  Random random(6);
  Mixer mixer;
  std::vector<float> floats{1.0F / 1024};
  std::vector<std::uint16_t> halves{0x1400};  // 2^-10 as well
  for (int pair = 0; pair < 200000; ++pair) {
    const float value = wide_ranging_float(mixer);
    floats.insert(floats.end(), {value, -value});
    const auto half = static_cast<std::uint16_t>(random() % 0x7C00);
    halves.insert(halves.end(), {half, static_cast<std::uint16_t>(half | 0x8000U)});
  }
  std::shuffle(floats.begin(), floats.end(), random);
  std::shuffle(halves.begin(), halves.end(), random);
  const double mean = 0x1p-10 / static_cast<double>(floats.size());
  EXPECT_NEAR(stats_of(DType::kFloat32, floats).mean, mean, 1e-9 * mean);
  EXPECT_EQ(stats_of(DType::kFloat16, halves).mean, mean);
}

TEST_P(AccuracyTest, NormsNearTheEndsOfFloat64) {
  for (const std::size_t count : {1U, 7U, 1000U, 100000U}) {
    const double root = std::sqrt(static_cast<double>(count));
    for (const double value : {1e300, 1e200, 1e150, 1e145, 1e-145, 1e-150, 1e-160, 1e-300, -1e300, -1e-300}) {
      const Stats stats = stats_of(DType::kFloat64, std::vector<double>(count, value));
      EXPECT_NEAR(stats.norm / std::abs(value), root, 1e-13 * root) << value << " x " << count;
      EXPECT_NEAR(stats.mean / value, 1, 1e-15) << value << " x " << count;
      EXPECT_EQ(stats.zero, 0);
    }
  }
}

TEST_P(AccuracyTest, TheLargestAndTheSmallestFloat64) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
  const Stats large = stats_of(DType::kFloat64, std::vector<double>(1000, kMax));
  EXPECT_EQ(large.mean, kMax);
  EXPECT_EQ(large.norm, std::numeric_limits<double>::infinity()) << "the true norm is beyond a double";
  const Stats balanced = stats_of(DType::kFloat64, std::vector<double>{kMax, kMax, -kMax, -kMax, 4});
  EXPECT_EQ(balanced.mean, 0.8);
  const Stats small = stats_of(DType::kFloat64, std::vector<double>(1000000, kDenormal));
  EXPECT_EQ(small.mean, kDenormal);
  EXPECT_EQ(small.norm, 1000 * kDenormal);
}

// Spans of huge, ordinary and tiny values in one tensor.
TEST_P(AccuracyTest, MixedMagnitudes) {
  std::vector<double> values(30000, 1e-300);
  std::fill(values.begin() + 10000, values.begin() + 20000, 3.0);
  EXPECT_NEAR(stats_of(DType::kFloat64, values).norm, 300, 1e-12);
  std::fill(values.begin(), values.begin() + 10000, 4e250);
  const Stats with_huge = stats_of(DType::kFloat64, values);
  EXPECT_NEAR(with_huge.norm / 4e252, 1, 1e-14);
  EXPECT_NEAR(with_huge.mean / 4e250, 1.0 / 3, 1e-15);
  std::fill(values.begin(), values.begin() + 10000, 0x1p830);
  std::fill(values.begin() + 20000, values.end(), -0x1p830);
  EXPECT_DOUBLE_EQ(stats_of(DType::kFloat64, values).mean, 1.0) << "the huge ones cancel, the threes stay";
  std::fill(values.begin(), values.end(), 2e-145);  // squares of these just do not vanish
  std::fill(values.begin() + 20000, values.end(), 1e-150);
  EXPECT_NEAR(stats_of(DType::kFloat64, values).norm / (2e-145 * std::sqrt(20000.0)), 1, 1e-9);
}

TEST_P(AccuracyTest, TheLargestAndTheSmallestFloat32) {
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr float kDenormal = std::numeric_limits<float>::denorm_min();
  const Stats large = stats_of(DType::kFloat32, std::vector<float>(10000, kMax));
  EXPECT_EQ(large.mean, static_cast<double>(kMax));
  EXPECT_NEAR(large.norm / static_cast<double>(kMax), 100, 1e-12);
  const Stats small = stats_of(DType::kFloat32, std::vector<float>(10000, kDenormal));
  EXPECT_NEAR(small.norm / static_cast<double>(kDenormal), 100, 1e-12);
}

TEST_P(AccuracyTest, ComplexNearTheEnds) {
  for (const double value : {1e300, 1e-300, 1e-310}) {
    std::vector<double> pairs;
    for (int element = 0; element < 3000; ++element) {
      pairs.insert(pairs.end(), {3 * value, -4 * value});
    }
    const std::int64_t size = 3000;
    const Stats stats = compute_with(*GetParam(), contiguous(pairs.data(), DType::kComplex128, &size));
    const double slack = value == 1e-310 ? 1e-13 : 1e-15;  // denormals have fewer bits
    EXPECT_NEAR(stats.mean / value, 5, 5 * slack);
    EXPECT_NEAR(stats.max.real / value, 5, 5 * slack);
    EXPECT_NEAR(stats.norm / value, 5 * std::sqrt(3000.0), 1e-12);
  }
}

// Expanded without bound: the numbers are those of the values, times the repeats.
TEST_P(AccuracyTest, ExpandedBillions) {
  const std::vector<float> values{1, 2, 0, 5};
  const std::int64_t sizes[] = {1000000, 4, 1000000};
  const std::int64_t strides[] = {0, 1, 0};
  const Stats stats = compute_with(*GetParam(), {values.data(), DType::kFloat32, sizes, strides});
  EXPECT_EQ(stats.count, 4000000000000);
  EXPECT_EQ(stats.zero, 1000000000000);
  EXPECT_EQ(stats.mean, 2);
  EXPECT_DOUBLE_EQ(stats.norm, 1e6 * std::sqrt(30.0));
}

INSTANTIATE_TEST_SUITE_P(Targets, AccuracyTest, ::testing::ValuesIn(available_kernels()),
                         [](const auto& parameters) { return std::string(parameters.param->name); });

}  // namespace
}  // namespace msprobe::stats

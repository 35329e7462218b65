// SPDX-License-Identifier: Apache-2.0
// Integers to the last unit: extremes that a double cannot hold, sums that 64 bits cannot.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stats/dispatch.h"
#include "stats/expected.h"

namespace msprobe::stats {
namespace {

using testing::tensor_of;

constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

class IntegersTest : public ::testing::TestWithParam<const KernelTable*> {
 protected:
  template <class Value>
  static Stats stats_of(DType dtype, const std::vector<Value>& values) {
    return compute_with(*GetParam(), tensor_of(dtype, values).view());
  }
};

TEST_P(IntegersTest, Int64ExtremesAreExact) {
  // 2^63 - 2 and -2^63 + 1 both round to a power of two in a double.
  std::vector<std::int64_t> values(100, 5);
  values[17] = kHigh - 1;
  values[63] = kLow + 1;
  const Stats stats = stats_of(DType::kInt64, values);
  ASSERT_EQ(stats.max.kind, Extreme::Kind::kSigned);
  EXPECT_EQ(stats.max.signed_int, kHigh - 1);
  ASSERT_EQ(stats.min.kind, Extreme::Kind::kSigned);
  EXPECT_EQ(stats.min.signed_int, kLow + 1);
}

TEST_P(IntegersTest, UInt64ExtremesAreExact) {
  std::vector<std::uint64_t> values(100, kTop - 3);
  values[99] = kTop - 1;
  values[50] = (std::uint64_t{1} << 53) + 1;
  const Stats stats = stats_of(DType::kUInt64, values);
  ASSERT_EQ(stats.max.kind, Extreme::Kind::kUnsigned);
  EXPECT_EQ(stats.max.unsigned_int, kTop - 1);
  EXPECT_EQ(stats.min.unsigned_int, (std::uint64_t{1} << 53) + 1);
}

TEST_P(IntegersTest, SumsDoNotOverflow) {
  EXPECT_EQ(stats_of(DType::kInt64, std::vector<std::int64_t>(100003, kHigh)).mean, 0x1p63);
  EXPECT_EQ(stats_of(DType::kInt64, std::vector<std::int64_t>(100003, kLow)).mean, -0x1p63);
  EXPECT_EQ(stats_of(DType::kUInt64, std::vector<std::uint64_t>(100003, kTop)).mean, 0x1p64);
  EXPECT_EQ(stats_of(DType::kInt32, std::vector<std::int32_t>(100003, -2147483647)).mean, -2147483647.0);
  EXPECT_EQ(stats_of(DType::kUInt32, std::vector<std::uint32_t>(100003, 4294967295U)).mean, 4294967295.0);
}

TEST_P(IntegersTest, CancellingSumsAreExact) {
  // The sum is 7 exactly, though the terms are near 2^63.
  std::vector<std::int64_t> values;
  for (std::int64_t index = 0; index < 50000; ++index) {
    values.push_back(kHigh - index);
    values.push_back(-(kHigh - index));
  }
  values.push_back(7);
  EXPECT_DOUBLE_EQ(stats_of(DType::kInt64, values).mean, 7.0 / 100001);
}

TEST_P(IntegersTest, NormsOfLargeIntegers) {
  EXPECT_DOUBLE_EQ(stats_of(DType::kUInt64, std::vector<std::uint64_t>(10000, kTop)).norm, 100 * 0x1p64);
  EXPECT_DOUBLE_EQ(stats_of(DType::kInt64, std::vector<std::int64_t>(10000, kLow)).norm, 100 * 0x1p63);
  EXPECT_DOUBLE_EQ(stats_of(DType::kInt16, std::vector<std::int16_t>(10000, -32768)).norm, 3276800);
}

TEST_P(IntegersTest, BytesBeyondOneAreTrue) {
  const Stats stats = stats_of(DType::kBool, std::vector<std::uint8_t>{0, 1, 2, 255, 128, 0});
  EXPECT_EQ(stats.max.unsigned_int, 1U);
  EXPECT_EQ(stats.min.unsigned_int, 0U);
  EXPECT_EQ(stats.zero, 2);
  EXPECT_DOUBLE_EQ(stats.mean, 4.0 / 6);
  EXPECT_DOUBLE_EQ(stats.norm, 2);
}

// Every pair of a narrow type's corner values.
TEST_P(IntegersTest, CornersOfNarrowTypes) {
  const Stats int8 = stats_of(DType::kInt8, std::vector<std::int8_t>{-128, 127, 0});
  EXPECT_EQ(int8.min.signed_int, -128);
  EXPECT_EQ(int8.max.signed_int, 127);
  const Stats uint16 = stats_of(DType::kUInt16, std::vector<std::uint16_t>{65535, 32768, 1});
  EXPECT_EQ(uint16.max.unsigned_int, 65535U);
  EXPECT_EQ(uint16.min.unsigned_int, 1U);
  const Stats uint32 = stats_of(DType::kUInt32, std::vector<std::uint32_t>{0x80000000U, 0x7FFFFFFFU, 0xFFFFFFFFU});
  EXPECT_EQ(uint32.max.unsigned_int, 0xFFFFFFFFU);
  EXPECT_EQ(uint32.min.unsigned_int, 0x7FFFFFFFU);
  EXPECT_EQ(uint32.zero, 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, IntegersTest, ::testing::ValuesIn(available_kernels()),
                         [](const auto& parameters) { return std::string(parameters.param->name); });

}  // namespace
}  // namespace msprobe::stats

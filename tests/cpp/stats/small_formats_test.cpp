// SPDX-License-Identifier: Apache-2.0
// Every code of every format of 16 bits and fewer, alone and among others, on every target.
#include <gtest/gtest.h>

#include <cmath>

#include "stats/dispatch.h"
#include "stats/expected.h"

namespace msprobe::stats {
namespace {

using testing::expect;
using testing::matches;
using testing::tensor_of;

const std::vector<DType>& byte_formats() {
  static const std::vector<DType> formats{DType::kFloat8E4M3FN,   DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2,
                                          DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0FNU,  DType::kFloat4E2M1FNX2};
  return formats;
}

TEST(SmallFormatsTest, EachByteAlone) {
  for (const DType dtype : byte_formats()) {
    for (int byte = 0; byte < 256; ++byte) {
      const auto tensor = tensor_of(dtype, std::vector<std::uint8_t>{static_cast<std::uint8_t>(byte)});
      const auto wanted = expect(testing::values_of(tensor));
      EXPECT_TRUE(matches(compute(tensor.view()), wanted, dtype)) << "byte " << byte;
      EXPECT_TRUE(matches(reference(tensor.view()), wanted, dtype)) << "byte " << byte;
    }
  }
}

// Byte b occurs b + 1 times, so that a count given to the wrong code shows.
TEST(SmallFormatsTest, BytesCountedRight) {
  for (const DType dtype : byte_formats()) {
    std::vector<std::uint8_t> bytes;
    for (int byte = 0; byte < 256; ++byte) {
      const bool is_nan =
          dtype != DType::kFloat4E2M1FNX2 && std::isnan(testing::code_values(dtype)[static_cast<std::size_t>(byte)]);
      bytes.insert(bytes.end(), is_nan ? 0 : static_cast<std::size_t>(byte) + 1, static_cast<std::uint8_t>(byte));
    }
    const auto tensor = tensor_of(dtype, bytes);
    EXPECT_TRUE(matches(compute(tensor.view()), expect(testing::values_of(tensor)), dtype));
  }
}

TEST(SmallFormatsTest, PackedFloat4CountsBothNibbles) {
  // 0x2E: low nibble 0xE = -4, high nibble 0x2 = 1. 0x80: 0 and -0.
  const Stats stats = compute(tensor_of(DType::kFloat4E2M1FNX2, std::vector<std::uint8_t>{0x2E, 0x80}).view());
  EXPECT_EQ(stats.count, 4);
  EXPECT_EQ(stats.zero, 2);
  EXPECT_EQ(stats.max.real, 1.0);
  EXPECT_EQ(stats.min.real, -4.0);
  EXPECT_EQ(stats.mean, -0.75);
  EXPECT_DOUBLE_EQ(stats.norm, std::sqrt(17.0));
}

class SixteenBitsTest : public ::testing::TestWithParam<std::tuple<DType, const KernelTable*>> {};

TEST_P(SixteenBitsTest, EachCodeAlone) {
  const auto [dtype, kernels] = GetParam();
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const TensorView view{&bits, dtype, {}, {}};
    const auto wanted = expect({static_cast<long double>(testing::code_values(dtype)[code])});
    ASSERT_TRUE(matches(compute_with(*kernels, view), wanted, dtype)) << "code " << code;
  }
}

TEST_P(SixteenBitsTest, EachCodeAmongOthers) {
  // In the vector part of a span: 64 copies of each code.
  const auto [dtype, kernels] = GetParam();
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto tensor = tensor_of(dtype, std::vector<std::uint16_t>(64, static_cast<std::uint16_t>(code)));
    const long double value = testing::code_values(dtype)[code];
    testing::Expected wanted = expect({value});
    wanted.count *= 64;
    wanted.nan *= 64;
    wanted.pos_inf *= 64;
    wanted.neg_inf *= 64;
    wanted.zero *= 64;
    wanted.norm *= 8;
    ASSERT_TRUE(matches(compute_with(*kernels, tensor.view()), wanted, dtype)) << "code " << code;
  }
}

TEST_P(SixteenBitsTest, AllCodesTogether) {
  const auto [dtype, kernels] = GetParam();
  std::vector<std::uint16_t> finite;
  std::vector<std::uint16_t> all;
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    all.push_back(static_cast<std::uint16_t>(code));
    if (std::isfinite(testing::code_values(dtype)[code])) {
      finite.push_back(static_cast<std::uint16_t>(code));
    }
  }
  for (const auto& codes : {finite, all}) {
    const auto tensor = tensor_of(dtype, codes);
    EXPECT_TRUE(matches(compute_with(*kernels, tensor.view()), expect(testing::values_of(tensor)), dtype));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SixteenBitsTest,
                         ::testing::Combine(::testing::Values(DType::kFloat16, DType::kBFloat16),
                                            ::testing::ValuesIn(available_kernels())),
                         [](const auto& parameters) {
                           return std::string(dtype_name(std::get<0>(parameters.param)).substr(6))
                               .append("_")
                               .append(std::get<1>(parameters.param)->name);
                         });

}  // namespace
}  // namespace msprobe::stats

// SPDX-License-Identifier: Apache-2.0
// The decoders of 16-bit and smaller formats, against values from their specifications and against the neighbouring code.
#include "format/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace msprobe {
namespace {

TEST(SmallFloatTest, LandmarksOfFloat16) {
  EXPECT_EQ(decode_small_float(kFloat16Format, 0x3C00), 1.0);
  EXPECT_EQ(decode_small_float(kFloat16Format, 0xC000), -2.0);
  EXPECT_EQ(decode_small_float(kFloat16Format, 0x7BFF), 65504.0);
  EXPECT_EQ(decode_small_float(kFloat16Format, 0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(decode_small_float(kFloat16Format, 0x0400), std::ldexp(1.0, -14));
  EXPECT_EQ(decode_small_float(kFloat16Format, 0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(decode_small_float(kFloat16Format, 0x7C01)));
}

TEST(SmallFloatTest, BFloat16IsTheUpperHalfOfAFloat) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const std::uint32_t bits = code << 16;
    float wanted = 0;
    std::memcpy(&wanted, &bits, sizeof wanted);
    const double got = decode_small_float(kBFloat16Format, code);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(got)) << code;
    } else {
      EXPECT_EQ(got, static_cast<double>(wanted)) << code;
      EXPECT_EQ(std::signbit(got), std::signbit(wanted)) << code;
    }
  }
}

TEST(SmallFloatTest, LandmarksOfFloat8) {
  EXPECT_EQ(decode_small_float(kFloat8E4M3FNFormat, 0x7E), 448.0);
  EXPECT_EQ(decode_small_float(kFloat8E4M3FNFormat, 0x01), std::ldexp(1.0, -9));
  EXPECT_TRUE(std::isnan(decode_small_float(kFloat8E4M3FNFormat, 0x7F)));
  EXPECT_TRUE(std::isnan(decode_small_float(kFloat8E4M3FNFormat, 0xFF)));
  EXPECT_EQ(decode_small_float(kFloat8E4M3FNUZFormat, 0x7F), 240.0);
  EXPECT_EQ(decode_small_float(kFloat8E4M3FNUZFormat, 0x01), std::ldexp(1.0, -10));
  EXPECT_TRUE(std::isnan(decode_small_float(kFloat8E4M3FNUZFormat, 0x80)));
  EXPECT_EQ(decode_small_float(kFloat8E5M2Format, 0x7B), 57344.0);
  EXPECT_EQ(decode_small_float(kFloat8E5M2Format, 0x01), std::ldexp(1.0, -16));
  EXPECT_EQ(decode_small_float(kFloat8E5M2Format, 0x7C), INFINITY);
  EXPECT_TRUE(std::isnan(decode_small_float(kFloat8E5M2Format, 0xFD)));
  EXPECT_EQ(decode_small_float(kFloat8E5M2FNUZFormat, 0x7F), 57344.0);
  EXPECT_EQ(decode_small_float(kFloat8E5M2FNUZFormat, 0x01), std::ldexp(1.0, -17));
  EXPECT_TRUE(std::isnan(decode_small_float(kFloat8E5M2FNUZFormat, 0x80)));
}

TEST(SmallFloatTest, AllOfFloat4) {
  constexpr double kMagnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint32_t code = 0; code < 8; ++code) {
    EXPECT_EQ(decode_small_float(kFloat4E2M1FNFormat, code), kMagnitudes[code]);
    EXPECT_EQ(decode_small_float(kFloat4E2M1FNFormat, code + 8), -kMagnitudes[code]);
  }
}

TEST(SmallFloatTest, AllOfE8M0) {
  for (int code = 0; code < 255; ++code) {
    EXPECT_EQ(decode_e8m0(static_cast<std::uint8_t>(code)), std::ldexp(1.0, code - 127));
  }
  EXPECT_TRUE(std::isnan(decode_e8m0(255)));
}

}  // namespace
}  // namespace msprobe

// SPDX-License-Identifier: Apache-2.0
// Floating formats of 16 bits and fewer, decoded one value at a time straight from their definition.
#pragma once

#include <cstdint>
#include <limits>

namespace msprobe {

// How a format spends its highest codes.
enum class SpecialCodes : std::uint8_t {
  kIeee,          // all exponent bits set: infinity if the mantissa is 0, else NaN
  kNanAllOnes,    // "fn": no infinity; NaN only where exponent and mantissa are all ones
  kNanMinusZero,  // "fnuz": no infinity, no negative zero; NaN is the code that would be -0
  kNone,          // every code is a number
};

struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  SpecialCodes special;
};

inline constexpr SmallFloat kFloat16Format{5, 10, 15, SpecialCodes::kIeee};
inline constexpr SmallFloat kBFloat16Format{8, 7, 127, SpecialCodes::kIeee};
inline constexpr SmallFloat kFloat8E4M3FNFormat{4, 3, 7, SpecialCodes::kNanAllOnes};
inline constexpr SmallFloat kFloat8E4M3FNUZFormat{4, 3, 8, SpecialCodes::kNanMinusZero};
inline constexpr SmallFloat kFloat8E5M2Format{5, 2, 15, SpecialCodes::kIeee};
inline constexpr SmallFloat kFloat8E5M2FNUZFormat{5, 2, 16, SpecialCodes::kNanMinusZero};
inline constexpr SmallFloat kFloat4E2M1FNFormat{2, 1, 1, SpecialCodes::kNone};

// 2 to the power of exponent; exact as long as the result is a double.
constexpr double power_of_two(int exponent) noexcept {
  double value = 1;
  for (; exponent > 0; --exponent) {
    value *= 2;
  }
  for (; exponent < 0; ++exponent) {
    value /= 2;
  }
  return value;
}

// The value of `bits` (sign, exponent, mantissa from the top; higher bits are ignored). Every value is exact in a double.
constexpr double decode_small_float(const SmallFloat& format, std::uint32_t bits) noexcept {
  const std::uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const std::uint32_t exponent_mask = (1U << format.exponent_bits) - 1;
  const std::uint32_t exponent = (bits >> format.mantissa_bits) & exponent_mask;
  const bool negative = ((bits >> (format.mantissa_bits + format.exponent_bits)) & 1U) != 0;
  const std::uint32_t top_mantissa = (1U << format.mantissa_bits) - 1;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  if (format.special == SpecialCodes::kIeee && exponent == exponent_mask) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return mantissa != 0 ? kNan : (negative ? -kInfinity : kInfinity);
  }
  if (format.special == SpecialCodes::kNanAllOnes && exponent == exponent_mask && mantissa == top_mantissa) {
    return kNan;
  }
  if (format.special == SpecialCodes::kNanMinusZero && negative && exponent == 0 && mantissa == 0) {
    return kNan;
  }
  // A zero exponent means: no hidden bit, and the scale of exponent one.
  const std::uint32_t significand = exponent == 0 ? mantissa : mantissa + (1U << format.mantissa_bits);
  const int scale = static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
  const double magnitude = static_cast<double>(significand) * power_of_two(scale);
  return negative ? -magnitude : magnitude;
}

// e8m0fnu has neither sign nor mantissa: 2^(bits - 127), no zero, 0xFF is NaN.
constexpr double decode_e8m0(std::uint8_t bits) noexcept {
  return bits == 0xFF ? std::numeric_limits<double>::quiet_NaN() : power_of_two(static_cast<int>(bits) - 127);
}

}  // namespace msprobe

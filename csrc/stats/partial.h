// SPDX-License-Identifier: Apache-2.0
// What is known of a part of a tensor: the sums and counts that kernels add to and that merge() joins.
#pragma once

#include <cstdint>
#include <limits>

#include "format/dtype.h"

namespace msprobe::stats {

__extension__ using Int128 = __int128;

// hi + lo, about 106 bits: keeps what a sum of nearly cancelling terms would lose in one double.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;

  void add(double value) noexcept {
    const double total = hi + value;
    const double part = total - hi;
    lo += (hi - (total - part)) + (value - part);
    hi = total;
  }
  void add(const DoubleDouble& other) noexcept {
    add(other.hi);
    lo += other.lo;
  }
};

struct RealSums {
  DoubleDouble sum;
  double squares = 0;
};

// Doubles beyond these bounds are scaled by a power of two before they are squared, and summed apart. The square of anything
// between the bounds, 2^63 times, still fits a double; below kTinyBound squares would lose bits to underflow.
inline constexpr double kHugeBound = 0x1p480;
inline constexpr double kTinyBound = 0x1p-480;
inline constexpr double kHugeScale = 0x1p-600;
inline constexpr double kTinyScale = 0x1p600;
inline constexpr int kScaleExponent = 600;

struct Partial {
  DType dtype = DType::kUnknown;  // kUnknown: nothing accumulated yet
  std::int64_t repeat = 1;        // how often every value counts: the product of the sizes whose stride is 0
  std::int64_t count = 0;         // values seen, before `repeat`; so are the next four
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::int64_t zero = 0;

  // Floating and complex types. Spans that hold a NaN or infinity leave the sums alone: the counts decide the result then.
  RealSums normal;
  RealSums huge;            // of values times kHugeScale
  double tiny_squares = 0;  // of values times kTinyScale
  double real_max = -std::numeric_limits<double>::infinity();
  double real_min = std::numeric_limits<double>::infinity();

  // Integral types, exact; their squares are in normal.squares.
  Int128 integer_sum = 0;
  Int128 integer_max = std::numeric_limits<std::int64_t>::min();
  Int128 integer_min = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace msprobe::stats

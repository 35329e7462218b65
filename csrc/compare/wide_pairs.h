// SPDX-License-Identifier: Apache-2.0
// The loops of pair_kernels.h for numbers that no vector unit has: exact 64-bit integers, and complex ones by magnitude.
#pragma once

#include <cstdint>

#include "compare/number_reader.h"
#include "compare/pair_kernels.h"

namespace msprobe::compare {

// |x - y| without a rounding before the last.
double integer_distance(Int128 x, Int128 y) noexcept;
// difference_squares, max_abs, over_tolerance.
void integer_differences(const Int128* x, const Int128* y, std::int64_t count, const Limits& limits, PairSums& sums) noexcept;

// Elements are two doubles, real and imaginary part.
double complex_distance(const double* x, const double* y) noexcept;
// max_abs, over_tolerance, max_relative, within_*; an element with y = 0 counts as if both real parts were `epsilon` larger.
void complex_differences(const double* x, const double* y, std::int64_t count, double epsilon, const Limits& limits,
                         PairSums& sums) noexcept;

}  // namespace msprobe::compare

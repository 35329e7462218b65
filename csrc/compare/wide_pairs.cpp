// SPDX-License-Identifier: Apache-2.0
// One element at a time; such tensors are rare.
#include "compare/wide_pairs.h"

#include <algorithm>
#include <cmath>

namespace msprobe::compare {
namespace {

double magnitude(double real, double imaginary) noexcept {
  // Squares between these bounds neither overflow nor lose bits; hypot() takes ten times as long.
  constexpr double kSmall = 1e-290;
  constexpr double kLarge = 1e290;
  const double squares = real * real + imaginary * imaginary;
  return squares > kSmall && squares < kLarge ? std::sqrt(squares) : std::hypot(real, imaginary);
}

}  // namespace

double integer_distance(Int128 x, Int128 y) noexcept {
  const Int128 difference = x - y;
  return static_cast<double>(difference < 0 ? -difference : difference);
}

void integer_differences(const Int128* x, const Int128* y, std::int64_t count, const Limits& limits, PairSums& sums) noexcept {
  sums.difference_squares = 0;
  sums.max_abs = 0;
  sums.over_tolerance = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    const double difference = integer_distance(x[index], y[index]);
    sums.difference_squares += difference * difference;
    sums.max_abs = std::max(sums.max_abs, difference);
    sums.over_tolerance += difference > limits.atol + limits.rtol * std::fabs(static_cast<double>(y[index])) ? 1 : 0;
  }
}

double complex_distance(const double* x, const double* y) noexcept { return magnitude(x[0] - y[0], x[1] - y[1]); }

void complex_differences(const double* x, const double* y, std::int64_t count, double epsilon, const Limits& limits,
                         PairSums& sums) noexcept {
  sums.max_abs = 0;
  sums.over_tolerance = 0;
  sums.max_relative = 0;
  sums.within_one = 0;
  sums.within_five = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    const double* const target = x + 2 * index;
    const double* const golden = y + 2 * index;
    const double difference = complex_distance(target, golden);
    const double size = magnitude(golden[0], golden[1]);
    const double error = size == 0 ? magnitude((target[0] + epsilon) - epsilon, target[1]) / epsilon : difference / size;
    sums.max_abs = std::max(sums.max_abs, difference);
    sums.over_tolerance += difference > limits.atol + limits.rtol * size ? 1 : 0;
    sums.max_relative = std::max(sums.max_relative, error);
    sums.within_one += error < kOneThousandth ? 1 : 0;
    sums.within_five += error < kFiveThousandths ? 1 : 0;
  }
}

}  // namespace msprobe::compare

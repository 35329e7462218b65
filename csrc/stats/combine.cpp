// SPDX-License-Identifier: Apache-2.0
// Joins partials, and turns the last one into the numbers of a record.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/partial.h"
#include "stats/stats.h"

namespace msprobe::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double divide(const DoubleDouble& sum, std::int64_t count) {
  const double high = sum.hi + sum.lo;
  const double low = (sum.hi - high) + sum.lo;
  const auto divisor = static_cast<double>(count);
  return high / divisor + low / divisor;
}

double real_mean(const Partial& total) {
  if (total.nan > 0 || (total.pos_inf > 0 && total.neg_inf > 0)) {
    return kNan;
  }
  if (total.pos_inf > 0) {
    return kInfinity;
  }
  if (total.neg_inf > 0) {
    return -kInfinity;
  }
  // The huge values' sum usually fits a double again, then one division is exact to the last bit; if not, divide first.
  if (std::abs(total.huge.sum.hi) < kHugeScale * std::numeric_limits<double>::max() / 4) {
    DoubleDouble sum = total.normal.sum;
    sum.add({std::ldexp(total.huge.sum.hi, kScaleExponent), std::ldexp(total.huge.sum.lo, kScaleExponent)});
    return divide(sum, total.count);
  }
  return std::ldexp(divide(total.huge.sum, total.count), kScaleExponent) + divide(total.normal.sum, total.count);
}

double integer_mean(const Partial& total) {
  const Int128 quotient = total.integer_sum / total.count;
  const Int128 remainder = total.integer_sum % total.count;
  return static_cast<double>(quotient) + static_cast<double>(remainder) / static_cast<double>(total.count);
}

// The norm of the values seen once, without `repeat`.
double norm_of(const Partial& total) {
  if (total.nan > 0) {
    return kNan;
  }
  if (total.pos_inf > 0 || total.neg_inf > 0) {
    return kInfinity;
  }
  const double step = std::ldexp(1.0, -2 * kScaleExponent + 200);  // 2^-1200 underflows: applied in two factors
  const double rest = std::ldexp(1.0, -200);
  if (total.huge.squares > 0) {
    return std::ldexp(std::sqrt(total.huge.squares + total.normal.squares * step * rest), kScaleExponent);
  }
  if (total.normal.squares > 0) {
    return std::sqrt(total.normal.squares + total.tiny_squares * step * rest);
  }
  return std::ldexp(std::sqrt(total.tiny_squares), -kScaleExponent);
}

Extreme real_extreme(double value) {
  Extreme extreme;
  extreme.kind = Extreme::Kind::kReal;
  extreme.real = value + 0.0;  // a zero of either sign becomes +0, so that the order of the walk does not show
  return extreme;
}

Extreme integer_extreme(DType dtype, Int128 value) {
  Extreme extreme;
  const bool has_sign = dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 || dtype == DType::kInt64;
  if (has_sign) {
    extreme.kind = Extreme::Kind::kSigned;
    extreme.signed_int = static_cast<std::int64_t>(value);
  } else {
    extreme.kind = Extreme::Kind::kUnsigned;
    extreme.unsigned_int = static_cast<std::uint64_t>(value);
  }
  return extreme;
}

}  // namespace

void merge(Partial& into, const Partial& next) {
  if (next.dtype == DType::kUnknown) {
    return;
  }
  into.dtype = next.dtype;
  into.repeat = next.repeat;
  into.count += next.count;
  into.nan += next.nan;
  into.pos_inf += next.pos_inf;
  into.neg_inf += next.neg_inf;
  into.zero += next.zero;
  into.normal.sum.add(next.normal.sum);
  into.normal.squares += next.normal.squares;
  into.huge.sum.add(next.huge.sum);
  into.huge.squares += next.huge.squares;
  into.tiny_squares += next.tiny_squares;
  into.real_max = std::max(into.real_max, next.real_max);
  into.real_min = std::min(into.real_min, next.real_min);
  into.integer_sum += next.integer_sum;
  into.integer_max = std::max(into.integer_max, next.integer_max);
  into.integer_min = std::min(into.integer_min, next.integer_min);
}

Stats finish(const Partial& total) {
  Stats stats;
  if (total.count == 0) {
    return stats;
  }
  stats.count = total.count * total.repeat;
  stats.nan = total.nan * total.repeat;
  stats.pos_inf = total.pos_inf * total.repeat;
  stats.neg_inf = total.neg_inf * total.repeat;
  stats.zero = total.zero * total.repeat;
  if (is_integral(total.dtype)) {
    stats.max = integer_extreme(total.dtype, total.integer_max);
    stats.min = integer_extreme(total.dtype, total.integer_min);
    stats.mean = integer_mean(total);
  } else {
    stats.max = real_extreme(total.nan > 0 ? kNan : total.real_max);
    stats.min = real_extreme(total.nan > 0 ? kNan : total.real_min);
    stats.mean = real_mean(total);
  }
  stats.norm = norm_of(total) * std::sqrt(static_cast<double>(total.repeat));
  return stats;
}

}  // namespace msprobe::stats

// SPDX-License-Identifier: Apache-2.0
// Types of 64-bit lanes: float64, int64, uint64. See lanes.inc.h for how this file is included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

inline constexpr std::int64_t kWideSpan = 4096;
inline constexpr std::int64_t kWideLanes = 8;
inline constexpr std::int64_t kWideParts = kWideLanes / kNativeLanes<double>;

struct WideSums {
  std::array<double, kWideLanes> sum;
  std::array<double, kWideLanes> error;
  std::array<double, kWideLanes> squares;
  double max;
  double min;
  std::int64_t zero;
};

// `scale` is a power of two. Rounding errors are kept lane by lane: an element may be as large as the sum of all others.
template <bool kScaled>
MSPROBE_SIMD void sum_doubles(const std::byte* from, std::int64_t count, double scale, WideSums& sums) {
  Native<double> sum[kWideParts] = {};
  Native<double> error[kWideParts] = {};
  Native<double> squares[kWideParts] = {};
  Native<double> max = Native<double>{} + kLeast<double>;
  Native<double> min = Native<double>{} + kGreatest<double>;
  Native<std::int64_t> zero = {};
  const std::int64_t whole = count / kWideLanes * kWideLanes;
  const std::byte* const end = from + whole * 8;
  while (from != end) {
    prefetch_ahead(from);
#pragma GCC unroll 4
    for (std::int64_t part = 0; part < kWideParts; ++part, from += MSPROBE_SIMD_BYTES) {
      Native<double> value;
      load_vector(from, value);
      if constexpr (kScaled) {
        value *= scale;
      }
      take_max(max, value);
      take_min(min, value);
      zero += value == 0;
      add_exact(sum[part], error[part], value);
      squares[part] += value * value;
    }
  }
  __builtin_memcpy(sums.sum.data(), sum, sizeof sum);
  __builtin_memcpy(sums.error.data(), error, sizeof error);
  __builtin_memcpy(sums.squares.data(), squares, sizeof squares);
  sums.max = fold_max<double>(max);
  sums.min = fold_min<double>(min);
  sums.zero = -fold_count<std::int64_t>(zero);
  for (std::int64_t lane = 0; lane < count - whole; ++lane) {
    double value = 0;
    __builtin_memcpy(&value, end + lane * 8, sizeof value);
    value *= scale;
    take_max(sums.max, value);
    take_min(sums.min, value);
    sums.zero += value == 0 ? 1 : 0;
    add_exact(sums.sum[lane], sums.error[lane], value);
    sums.squares[lane] += value * value;
  }
}

// Of a span that holds something that is not finite.
MSPROBE_SIMD void count_special_doubles(const std::byte* from, std::int64_t count, Partial& into) {
  for (std::int64_t index = 0; index < count; ++index) {
    double value = 0;
    __builtin_memcpy(&value, from + index * 8, sizeof value);
    into.nan += value != value ? 1 : 0;
    into.pos_inf += value == kGreatest<double> ? 1 : 0;
    into.neg_inf += value == kLeast<double> ? 1 : 0;
  }
}

// Adds one span's sums. Squares overflow beyond 2^512 and vanish below 2^-512: such spans are summed again, scaled.
MSPROBE_SIMD void add_double_span(const std::byte* from, std::int64_t span, Partial& into) {
  WideSums sums;
  sum_doubles<false>(from, span, 1.0, sums);
  into.zero += sums.zero;
  take_max(into.real_max, sums.max);
  take_min(into.real_min, sums.min);
  const double largest = sums.max > -sums.min ? sums.max : -sums.min;
  const double squares = fold_sum(sums.squares);
  if (!(largest < kHugeBound) || squares != squares) {
    const std::int64_t special = into.nan + into.pos_inf + into.neg_inf;
    count_special_doubles(from, span, into);
    if (into.nan + into.pos_inf + into.neg_inf == special) {
      sum_doubles<true>(from, span, kHugeScale, sums);
      into.huge.sum.add(fold_exact(sums.sum, sums.error));
      into.huge.squares += fold_sum(sums.squares);
    }
    return;
  }
  into.normal.sum.add(fold_exact(sums.sum, sums.error));
  if (largest >= kTinyBound || largest == 0) {
    into.normal.squares += squares;
  } else {
    sum_doubles<true>(from, span, kTinyScale, sums);
    into.tiny_squares += fold_sum(sums.squares);
  }
}

MSPROBE_SIMD void accumulate_doubles(const void* elements, std::int64_t count, Partial& into) {
  const auto* from = static_cast<const std::byte*>(elements);
  into.count += count;
  while (count > 0) {
    const std::int64_t span = count < kWideSpan ? count : kWideSpan;
    add_double_span(from, span, into);
    from += span * 8;
    count -= span;
  }
}

// A 64-bit unsigned vector as doubles, rounded once. The halves are put below the exponents of 2^52 and 2^84, whose last bits
// stand for 1 and 2^32; what the exponents added is then taken away. (Only AVX-512 has an instruction for this.)
MSPROBE_SIMD void to_double(const Native<std::uint64_t>& from, double bias, Native<double>& to) {
  Native<double> low;
  Native<double> high;
  bits_of((from & 0xFFFFFFFFU) | 0x4330000000000000U, low);
  bits_of((from >> 32) | 0x4530000000000000U, high);
  to = (high - (0x1p84 + 0x1p52 + bias)) + low;
}

// int64 and uint64 in one form: signed values with 2^63 added (their order is that of the values). The sum is exact: its upper
// and lower 32-bit halves are summed apart and cannot overflow within a span.
template <class Integer>
MSPROBE_SIMD void add_wide_integer_span(const std::byte* from, std::int64_t span, Partial& into) {
  constexpr bool kSigned = std::numeric_limits<Integer>::is_signed;
  constexpr std::uint64_t kFlip = kSigned ? std::uint64_t{1} << 63 : 0;
  Native<std::uint64_t> low_sum = {};
  Native<std::uint64_t> high_sum = {};
  Native<double> squares[kWideParts] = {};
  Native<Integer> max = Native<Integer>{} + kLeast<Integer>;
  Native<Integer> min = Native<Integer>{} + kGreatest<Integer>;
  Native<std::int64_t> zero = {};
  const std::int64_t whole = span / kWideLanes * kWideLanes;
  const std::byte* const end = from + whole * 8;
  while (from != end) {
    prefetch_ahead(from);
#pragma GCC unroll 4
    for (std::int64_t part = 0; part < kWideParts; ++part, from += MSPROBE_SIMD_BYTES) {
      Native<Integer> value;
      load_vector(from, value);
      take_max(max, value);
      take_min(min, value);
      zero += value == 0;
      Native<std::uint64_t> flipped;
      bits_of(value, flipped);
      flipped ^= kFlip;
      low_sum += flipped & 0xFFFFFFFFU;
      high_sum += flipped >> 32;
      Native<double> wide;
      to_double(flipped, kSigned ? 0x1p63 : 0.0, wide);
      squares[part] += wide * wide;
    }
  }
  std::array<double, kWideLanes> square_lanes;
  __builtin_memcpy(square_lanes.data(), squares, sizeof squares);
  Integer best = fold_max<Integer>(max);
  Integer least = fold_min<Integer>(min);
  Int128 sum = (static_cast<Int128>(fold_count<std::uint64_t>(high_sum)) << 32) + fold_count<std::uint64_t>(low_sum) -
               static_cast<Int128>(kFlip) * whole;
  into.zero -= fold_count<std::int64_t>(zero);
  for (std::int64_t lane = 0; lane < span - whole; ++lane) {
    Integer value = 0;
    __builtin_memcpy(&value, end + lane * 8, sizeof value);
    take_max(best, value);
    take_min(least, value);
    into.zero += value == 0 ? 1 : 0;
    sum += value;
    square_lanes[lane] += static_cast<double>(value) * static_cast<double>(value);
  }
  take_max(into.integer_max, static_cast<Int128>(best));
  take_min(into.integer_min, static_cast<Int128>(least));
  into.integer_sum += sum;
  into.normal.squares += fold_sum(square_lanes);
}

template <class Integer>
MSPROBE_SIMD void accumulate_wide_integers(const void* elements, std::int64_t count, Partial& into) {
  const auto* from = static_cast<const std::byte*>(elements);
  into.count += count;
  while (count > 0) {
    const std::int64_t span = count < kWideSpan ? count : kWideSpan;
    add_wide_integer_span<Integer>(from, span, into);
    from += span * 8;
    count -= span;
  }
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

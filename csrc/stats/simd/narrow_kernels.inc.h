// SPDX-License-Identifier: Apache-2.0
// Types that fit 32-bit lanes: fp32, fp16, bf16, and integers up to 32 bits. Sums are made of doubles: the square of a float32
// is exact in one, and so is the sum of a span's integers. See lanes.inc.h for how this file is included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

// Elements summed in plain doubles before the compensated sums take over. 512 additions a lane leave float32 values of one
// span 20 bits of dynamic range without any rounding, and keep 32-bit integers (41 bits) exact.
inline constexpr std::int64_t kNarrowSpan = 8192;
// Partial sums kept side by side; the same for all targets, so that all round alike.
inline constexpr std::int64_t kNarrowLanes = 16;

template <class Lane>
struct NarrowSums {
  std::array<double, kNarrowLanes> sum;
  std::array<double, kNarrowLanes> squares;
  Lane max;
  Lane min;
  std::int64_t zero;
};

template <class Lane>
inline constexpr Lane kLeast =
    std::numeric_limits<Lane>::has_infinity ? -std::numeric_limits<Lane>::infinity() : std::numeric_limits<Lane>::min();
template <class Lane>
inline constexpr Lane kGreatest =
    std::numeric_limits<Lane>::has_infinity ? std::numeric_limits<Lane>::infinity() : std::numeric_limits<Lane>::max();

// The last count < kNarrowLanes elements of a span, one a lane.
template <class Source>
MSPROBE_SIMD void add_narrow_rest(const std::byte* from, std::int64_t count, NarrowSums<typename Source::Lane>& sums) {
  using Lane = typename Source::Lane;
  std::array<std::byte, kNarrowLanes * sizeof(typename Source::Storage)> padded{};
  __builtin_memcpy(padded.data(), from, static_cast<std::size_t>(count) * sizeof(typename Source::Storage));
  std::array<Native<Lane>, kNarrowLanes / kNativeLanes<Lane>> loaded;
  for (std::size_t part = 0; part < loaded.size(); ++part) {
    Source::load(padded.data() + part * kNativeLanes<Lane> * sizeof(typename Source::Storage), loaded[part]);
  }
  std::array<Lane, kNarrowLanes> values;
  __builtin_memcpy(values.data(), loaded.data(), sizeof values);
  for (std::int64_t lane = 0; lane < count; ++lane) {
    const Lane value = values[lane];
    const auto wide = static_cast<double>(value);
    sums.sum[lane] += wide;
    sums.squares[lane] += wide * wide;
    take_max(sums.max, value);
    take_min(sums.min, value);
    sums.zero += value == 0 ? 1 : 0;
  }
}

template <class Source>
MSPROBE_SIMD void sum_narrow(const std::byte* from, std::int64_t count, NarrowSums<typename Source::Lane>& sums) {
  using Lane = typename Source::Lane;
  constexpr std::int64_t kParts = kNarrowLanes / kNativeLanes<Lane>;
  constexpr std::int64_t kPartBytes = kNativeLanes<Lane> * static_cast<std::int64_t>(sizeof(typename Source::Storage));
  Native<double> sum[2 * kParts] = {};
  Native<double> squares[2 * kParts] = {};
  Native<Lane> max = Native<Lane>{} + kLeast<Lane>;
  Native<Lane> min = Native<Lane>{} + kGreatest<Lane>;
  Native<std::int32_t> zero = {};

  const std::int64_t whole = count / kNarrowLanes * kNarrowLanes;
  const std::byte* const end = from + whole * static_cast<std::int64_t>(sizeof(typename Source::Storage));
  while (from != end) {
    prefetch_ahead(from);
#pragma GCC unroll 4
    for (std::int64_t part = 0; part < kParts; ++part, from += kPartBytes) {
      Native<Lane> value;
      Source::load(from, value);
      take_max(max, value);
      take_min(min, value);
      zero += value == 0;
      Native<double> low;
      Native<double> high;
      widen(value, low, high);
      sum[2 * part] += low;
      sum[2 * part + 1] += high;
      squares[2 * part] += low * low;
      squares[2 * part + 1] += high * high;
    }
  }
  __builtin_memcpy(sums.sum.data(), sum, sizeof sum);
  __builtin_memcpy(sums.squares.data(), squares, sizeof squares);
  sums.max = fold_max<Lane>(max);
  sums.min = fold_min<Lane>(min);
  sums.zero = -fold_count<std::int32_t>(zero);
  add_narrow_rest<Source>(end, count - whole, sums);
}

// A second look at a span that holds something that is not finite.
template <class Source>
MSPROBE_SIMD void count_special_floats(const std::byte* from, std::int64_t count, Partial& into) {
  constexpr std::int64_t kLanes = kNativeLanes<float>;
  constexpr std::size_t kSize = sizeof(typename Source::Storage);
  Native<std::int32_t> nan = {};
  Native<std::int32_t> pos_inf = {};
  Native<std::int32_t> neg_inf = {};
  for (; count > 0; count -= kLanes, from += kLanes * kSize) {
    Native<float> value;
    if (count >= kLanes) {
      Source::load(from, value);
    } else {
      std::array<std::byte, kLanes * kSize> padded{};  // zeros are nothing special
      __builtin_memcpy(padded.data(), from, static_cast<std::size_t>(count) * kSize);
      Source::load(padded.data(), value);
    }
    nan += value != value;
    pos_inf += value == kGreatest<float>;
    neg_inf += value == kLeast<float>;
  }
  into.nan -= fold_count<std::int32_t>(nan);
  into.pos_inf -= fold_count<std::int32_t>(pos_inf);
  into.neg_inf -= fold_count<std::int32_t>(neg_inf);
}

template <class Source>
MSPROBE_SIMD void accumulate_floats(const void* elements, std::int64_t count, Partial& into) {
  const auto* from = static_cast<const std::byte*>(elements);
  into.count += count;
  while (count > 0) {
    const std::int64_t span = count < kNarrowSpan ? count : kNarrowSpan;
    NarrowSums<float> sums;
    sum_narrow<Source>(from, span, sums);
    into.zero += sums.zero;
    take_max(into.real_max, static_cast<double>(sums.max));
    take_min(into.real_min, static_cast<double>(sums.min));
    const double squares = fold_sum(sums.squares);
    if (__builtin_isfinite(squares)) {
      std::array<double, kNarrowLanes> errors{};
      into.normal.sum.add(fold_exact(sums.sum, errors));
      into.normal.squares += squares;
    } else {
      count_special_floats<Source>(from, span, into);
    }
    from += span * static_cast<std::int64_t>(sizeof(typename Source::Storage));
    count -= span;
  }
}

template <class Source>
MSPROBE_SIMD void accumulate_narrow_integers(const void* elements, std::int64_t count, Partial& into) {
  using Lane = typename Source::Lane;
  const auto* from = static_cast<const std::byte*>(elements);
  into.count += count;
  while (count > 0) {
    const std::int64_t span = count < kNarrowSpan ? count : kNarrowSpan;
    NarrowSums<Lane> sums;
    sum_narrow<Source>(from, span, sums);
    into.zero += sums.zero;
    take_max(into.integer_max, static_cast<Int128>(sums.max));
    take_min(into.integer_min, static_cast<Int128>(sums.min));
    into.integer_sum += static_cast<std::int64_t>(fold_sum(sums.sum));  // at most 45 bits: exact
    into.normal.squares += fold_sum(sums.squares);
    from += span * static_cast<std::int64_t>(sizeof(typename Source::Storage));
    count -= span;
  }
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

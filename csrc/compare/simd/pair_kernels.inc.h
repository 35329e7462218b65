// SPDX-License-Identifier: Apache-2.0
// The loops over two runs of numbers in vectors. Included by each target_*.cpp behind the vector types of stats/simd (lanes.inc.h says
// what has to be defined before).
namespace msprobe::compare::MSPROBE_SIMD_NAMESPACE {

namespace lanes = stats::MSPROBE_SIMD_NAMESPACE;
template <class T>
using Native = lanes::Native<T>;
template <class T>
inline constexpr std::int64_t kNativeLanes = lanes::kNativeLanes<T>;

// Sums are kept in so many lanes on every target: that fixes the order of additions.
inline constexpr std::int64_t kLanes = 16;
inline constexpr std::int64_t kDoubleParts = kLanes / kNativeLanes<double>;

template <class Number>
MSPROBE_SIMD void load_doubles(const std::byte* from, Native<double>& low, Native<double>& high) {
  if constexpr (sizeof(Number) == sizeof(float)) {
    Native<float> value;
    lanes::load_vector(from, value);
    lanes::widen(value, low, high);
  } else {
    lanes::load_vector(from, low);
    lanes::load_vector(from + sizeof low, high);
  }
}

// (Of a zero: either sign.)
template <class Vector>
MSPROBE_SIMD void make_absolute(Vector& value) {
  value = value < -value ? -value : value;
}

MSPROBE_SIMD double fold(const Native<double> (&parts)[kDoubleParts]) {
  std::array<double, kLanes> each;
  __builtin_memcpy(each.data(), parts, sizeof parts);
  return lanes::fold_sum(each);
}

// Gives `sums` kLanes elements at a time. The end of a run that does not fill the lanes is filled up with pairs of zeros, which add
// nothing to sums and maxima.
template <class Number, class Sums>
MSPROBE_SIMD void for_each_group(const void* from_x, const void* from_y, std::int64_t count, Sums& sums) {
  const auto* x = static_cast<const std::byte*>(from_x);
  const auto* y = static_cast<const std::byte*>(from_y);
  constexpr std::int64_t kBytes = kLanes * static_cast<std::int64_t>(sizeof(Number));
  for (; count >= kLanes; count -= kLanes, x += kBytes, y += kBytes) {
    sums.add(x, y);
  }
  if (count > 0) {
    std::array<std::byte, kBytes> padded_x{};
    std::array<std::byte, kBytes> padded_y{};
    __builtin_memcpy(padded_x.data(), x, static_cast<std::size_t>(count) * sizeof(Number));
    __builtin_memcpy(padded_y.data(), y, static_cast<std::size_t>(count) * sizeof(Number));
    sums.add(padded_x.data(), padded_y.data());
  }
}

template <class Number>
inline constexpr std::int64_t kPartBytes = kNativeLanes<double> * static_cast<std::int64_t>(sizeof(Number));

template <class Number>
struct Products {
  Native<double> dot[kDoubleParts] = {};
  Native<double> target_squares[kDoubleParts] = {};
  Native<double> golden_squares[kDoubleParts] = {};

  MSPROBE_SIMD void add(const std::byte* x, const std::byte* y) {
#pragma GCC unroll 8
    for (std::int64_t part = 0; part < kDoubleParts; part += 2) {
      Native<double> target[2];
      Native<double> golden[2];
      load_doubles<Number>(x + part * kPartBytes<Number>, target[0], target[1]);
      load_doubles<Number>(y + part * kPartBytes<Number>, golden[0], golden[1]);
#pragma GCC unroll 2
      for (std::int64_t half = 0; half < 2; ++half) {
        dot[part + half] += target[half] * golden[half];
        target_squares[part + half] += target[half] * target[half];
        golden_squares[part + half] += golden[half] * golden[half];
      }
    }
  }
};

template <class Number>
MSPROBE_SIMD void products(const void* x, const void* y, std::int64_t count, PairSums& sums) {
  Products<Number> found;
  for_each_group<Number>(x, y, count, found);
  sums.dot = fold(found.dot);
  sums.target_squares = fold(found.target_squares);
  sums.golden_squares = fold(found.golden_squares);
}

template <class Number>
struct Differences {
  double rtol;
  double atol;
  Native<double> squares[kDoubleParts] = {};
  Native<double> max = {};
  Native<std::int64_t> over = {};

  MSPROBE_SIMD void add(const std::byte* x, const std::byte* y) {
#pragma GCC unroll 8
    for (std::int64_t part = 0; part < kDoubleParts; part += 2) {
      Native<double> target[2];
      Native<double> golden[2];
      load_doubles<Number>(x + part * kPartBytes<Number>, target[0], target[1]);
      load_doubles<Number>(y + part * kPartBytes<Number>, golden[0], golden[1]);
#pragma GCC unroll 2
      for (std::int64_t half = 0; half < 2; ++half) {
        Native<double> difference = target[half] - golden[half];
        squares[part + half] += difference * difference;
        make_absolute(difference);
        make_absolute(golden[half]);
        lanes::take_max(max, difference);
        over += difference > atol + rtol * golden[half];
      }
    }
  }
};

template <class Number>
MSPROBE_SIMD void differences(const void* x, const void* y, std::int64_t count, const Limits& limits, PairSums& sums) {
  Differences<Number> found{.rtol = limits.rtol, .atol = limits.atol};
  for_each_group<Number>(x, y, count, found);
  sums.difference_squares = fold(found.squares);
  sums.max_abs = __builtin_fabs(lanes::fold_max<double>(found.max));
  sums.over_tolerance = -lanes::fold_count<std::int64_t>(found.over);
}

template <class Number>
struct Relative {
  using Count = std::conditional_t<sizeof(Number) == sizeof(float), std::int32_t, std::int64_t>;
  static constexpr auto kEpsilon =
      static_cast<Number>(sizeof(Number) == sizeof(float) ? double{kEpsilonFloat} : kEpsilonDouble);

  Native<Number> max = {};
  Native<Count> within_one = {};
  Native<Count> within_five = {};

  MSPROBE_SIMD void add(const std::byte* x, const std::byte* y) {
#pragma GCC unroll 8
    for (std::int64_t lane = 0; lane < kLanes; lane += kNativeLanes<Number>) {
      Native<Number> target;
      Native<Number> golden;
      lanes::load_vector(x + lane * static_cast<std::int64_t>(sizeof(Number)), target);
      lanes::load_vector(y + lane * static_cast<std::int64_t>(sizeof(Number)), golden);
      const Native<Count> zero = golden == 0;
      target = zero ? target + kEpsilon : target;
      golden = zero ? Native<Number>{} + kEpsilon : golden;
      Native<Number> error = (target - golden) / golden;
      make_absolute(error);
      lanes::take_max(max, error);
      within_one += error < static_cast<Number>(kOneThousandth);
      within_five += error < static_cast<Number>(kFiveThousandths);
    }
  }
};

template <class Number>
MSPROBE_SIMD void relative(const void* x, const void* y, std::int64_t count, PairSums& sums) {
  Relative<Number> found;
  for_each_group<Number>(x, y, count, found);
  const std::int64_t filled = (kLanes - count % kLanes) % kLanes;  // pairs of zeros are within both
  sums.max_relative = __builtin_fabs(static_cast<double>(lanes::fold_max<Number>(found.max)));
  sums.within_one = -lanes::fold_count<typename Relative<Number>::Count>(found.within_one) - filled;
  sums.within_five = -lanes::fold_count<typename Relative<Number>::Count>(found.within_five) - filled;
}

template <class Source>
MSPROBE_SIMD void widen_run(const void* elements, std::int64_t count, float* to) {
  using Storage = typename Source::Storage;
  constexpr std::int64_t kStep = kNativeLanes<float>;
  const auto* from = static_cast<const std::byte*>(elements);
  for (; count >= kStep; count -= kStep, from += kStep * sizeof(Storage), to += kStep) {
    Native<float> value;
    Source::load(from, value);
    __builtin_memcpy(to, &value, sizeof value);
  }
  if (count > 0) {
    std::array<std::byte, kStep * sizeof(Storage)> padded{};
    __builtin_memcpy(padded.data(), from, static_cast<std::size_t>(count) * sizeof(Storage));
    Native<float> value;
    Source::load(padded.data(), value);
    __builtin_memcpy(to, &value, static_cast<std::size_t>(count) * sizeof(float));
  }
}

// always_inline loops end here: these are the only functions of a target that exist as symbols.
#define MSPROBE_PAIR_KERNEL(name, ...)                                                                         \
  [[MSPROBE_SIMD_TARGET]] static void name(const void* x, const void* y, std::int64_t count, PairSums& sums) { \
    __VA_ARGS__(x, y, count, sums);                                                                            \
  }
#define MSPROBE_PAIR_LIMITS_KERNEL(name, ...)                                                                      \
  [[MSPROBE_SIMD_TARGET]] static void name(const void* x, const void* y, std::int64_t count, const Limits& limits, \
                                           PairSums& sums) {                                                       \
    __VA_ARGS__(x, y, count, limits, sums);                                                                        \
  }
#define MSPROBE_WIDEN_KERNEL(name, ...) \
  [[MSPROBE_SIMD_TARGET]] static void name(const void* from, std::int64_t count, float* to) { __VA_ARGS__(from, count, to); }

MSPROBE_PAIR_KERNEL(products_float, products<float>)
MSPROBE_PAIR_KERNEL(products_double, products<double>)
MSPROBE_PAIR_LIMITS_KERNEL(differences_float, differences<float>)
MSPROBE_PAIR_LIMITS_KERNEL(differences_double, differences<double>)
MSPROBE_PAIR_KERNEL(relative_float, relative<float>)
MSPROBE_PAIR_KERNEL(relative_double, relative<double>)
MSPROBE_WIDEN_KERNEL(widen_float16, widen_run<lanes::Float16Source>)
MSPROBE_WIDEN_KERNEL(widen_bfloat16, widen_run<lanes::BFloat16Source>)

#undef MSPROBE_PAIR_KERNEL
#undef MSPROBE_PAIR_LIMITS_KERNEL
#undef MSPROBE_WIDEN_KERNEL

constexpr PairKernels kPairKernels{
    .products_float = products_float,
    .products_double = products_double,
    .differences_float = differences_float,
    .differences_double = differences_double,
    .relative_float = relative_float,
    .relative_double = relative_double,
    .widen_float16 = widen_float16,
    .widen_bfloat16 = widen_bfloat16,
};

}  // namespace msprobe::compare::MSPROBE_SIMD_NAMESPACE

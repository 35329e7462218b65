// SPDX-License-Identifier: Apache-2.0
// Chooses a target's loops, and has the plain ones.
#include "compare/pair_kernels.h"

#include <cmath>
#include <cstddef>
#include <cstring>

#include "format/small_float.h"

namespace msprobe::compare {
namespace {

template <class Number>
Number number_at(const void* numbers, std::int64_t index) {
  Number number{};
  std::memcpy(&number, static_cast<const std::byte*>(numbers) + index * static_cast<std::int64_t>(sizeof number),
              sizeof number);
  return number;
}

template <class Number>
void products(const void* x, const void* y, std::int64_t count, PairSums& sums) {
  long double dot = 0;
  long double target_squares = 0;
  long double golden_squares = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    const long double target = number_at<Number>(x, index);
    const long double golden = number_at<Number>(y, index);
    dot += target * golden;
    target_squares += target * target;
    golden_squares += golden * golden;
  }
  sums.dot = static_cast<double>(dot);
  sums.target_squares = static_cast<double>(target_squares);
  sums.golden_squares = static_cast<double>(golden_squares);
}

template <class Number>
void differences(const void* x, const void* y, std::int64_t count, const Limits& limits, PairSums& sums) {
  long double squares = 0;
  sums.max_abs = 0;
  sums.over_tolerance = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    const double golden = number_at<Number>(y, index);
    const double difference = std::fabs(double{number_at<Number>(x, index)} - golden);
    squares += static_cast<long double>(difference) * difference;
    sums.max_abs = difference > sums.max_abs ? difference : sums.max_abs;
    sums.over_tolerance += difference > limits.atol + limits.rtol * std::fabs(golden) ? 1 : 0;
  }
  sums.difference_squares = static_cast<double>(squares);
}

template <class Number>
void relative(const void* x, const void* y, std::int64_t count, PairSums& sums) {
  constexpr Number kEpsilon = sizeof(Number) == sizeof(float) ? kEpsilonFloat : static_cast<Number>(kEpsilonDouble);
  sums.max_relative = 0;
  sums.within_one = 0;
  sums.within_five = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    auto target = number_at<Number>(x, index);
    auto golden = number_at<Number>(y, index);
    if (golden == 0) {
      golden = kEpsilon;
      target += kEpsilon;
    }
    const Number error = std::fabs((target - golden) / golden);
    sums.max_relative = error > sums.max_relative ? double{error} : sums.max_relative;
    sums.within_one += error < static_cast<Number>(kOneThousandth) ? 1 : 0;
    sums.within_five += error < static_cast<Number>(kFiveThousandths) ? 1 : 0;
  }
}

void widen(const SmallFloat& format, const void* from, std::int64_t count, float* to) {
  for (std::int64_t index = 0; index < count; ++index) {
    to[index] = static_cast<float>(decode_small_float(format, number_at<std::uint16_t>(from, index)));
  }
}
void widen_float16(const void* from, std::int64_t count, float* to) { widen(kFloat16Format, from, count, to); }
void widen_bfloat16(const void* from, std::int64_t count, float* to) { widen(kBFloat16Format, from, count, to); }

}  // namespace

const PairKernels kReferencePairKernels{
    .products_float = products<float>,
    .products_double = products<double>,
    .differences_float = differences<float>,
    .differences_double = differences<double>,
    .relative_float = relative<float>,
    .relative_double = relative<double>,
    .widen_float16 = widen_float16,
    .widen_bfloat16 = widen_bfloat16,
};

const PairKernels& pair_kernels_of(stats::Target target) noexcept {
#if defined(__x86_64__)
  switch (target) {
    case stats::Target::kAvx512:
      return kAvx512PairKernels;
    case stats::Target::kAvx2:
      return kAvx2PairKernels;
    case stats::Target::kBaseline:
      break;
  }
#else
  static_cast<void>(target);
#endif
  return kBaselinePairKernels;
}

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// The loops over two runs of numbers, and the sums they fill; each target (instruction set) has its table of them.
#pragma once

#include <cstdint>

#include "stats/kernels.h"

namespace msprobe::compare {

// Of runs of finite numbers, x the target's and y the golden's. All sums are doubles, whatever the numbers are.
struct PairSums {
  double dot = 0;  // of x * y
  double target_squares = 0;
  double golden_squares = 0;
  double difference_squares = 0;
  double max_abs = 0;            // of |x - y|
  double max_relative = 0;       // of r = |(x - y) / y|, taken in the numbers' own type
  std::int64_t within_one = 0;   // elements with r < 0.001
  std::int64_t within_five = 0;  // and with r < 0.005
  std::int64_t over_tolerance = 0;
};

struct Limits {
  double rtol;
  double atol;
};

// x and y point to `count` floats (or doubles) of any alignment. Each sets (not adds to) its own fields of `sums`, and does the same
// arithmetic in the same order on every target: their results are equal to the bit.
struct PairKernels {
  using Products = void (*)(const void* x, const void* y, std::int64_t count, PairSums& sums);
  using Differences = void (*)(const void* x, const void* y, std::int64_t count, const Limits& limits, PairSums& sums);
  using Widen = void (*)(const void* from, std::int64_t count, float* to);

  Products products_float;  // dot and the two sums of squares; not finite if a number is not
  Products products_double;
  Differences differences_float;  // difference_squares, max_abs, over_tolerance
  Differences differences_double;
  Products relative_float;  // max_relative, within_*
  Products relative_double;
  Widen widen_float16;
  Widen widen_bfloat16;
};

extern const PairKernels kBaselinePairKernels;
#if defined(__x86_64__)
extern const PairKernels kAvx2PairKernels;
extern const PairKernels kAvx512PairKernels;
#endif

// Plain loops, one element at a time, long double sums: what every target is compared with in the tests.
extern const PairKernels kReferencePairKernels;

const PairKernels& pair_kernels_of(stats::Target target) noexcept;

// The relative error of an element with y = 0 is taken as if both values were this much larger: the spacing at 1.
inline constexpr float kEpsilonFloat = 1.1920929e-07F;
inline constexpr double kEpsilonDouble = 2.220446049250313e-16;

inline constexpr double kOneThousandth = 0.001;
inline constexpr double kFiveThousandths = 0.005;

}  // namespace msprobe::compare

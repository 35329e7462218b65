// SPDX-License-Identifier: Apache-2.0
// A float sum for each target, written so that the compiler makes vector code of it.
#include "stats/plain_sum.h"

namespace msprobe::bench {
namespace {

// Several sums side by side, or each addition would wait for the one before.
[[gnu::always_inline]] inline float sum(const float* values, std::int64_t count) {
  constexpr std::int64_t kLanes = 64;
  float lanes[kLanes] = {};
  std::int64_t index = 0;
  for (; index + kLanes <= count; index += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += values[index + lane];
    }
  }
  float total = 0;
  for (; index < count; ++index) {
    total += values[index];
  }
  for (const float lane : lanes) {
    total += lane;
  }
  return total;
}

float sum_baseline(const float* values, std::int64_t count) { return sum(values, count); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] float sum_avx2(const float* values, std::int64_t count) { return sum(values, count); }

[[gnu::target("avx512f")]] float sum_avx512(const float* values, std::int64_t count) { return sum(values, count); }
#endif

}  // namespace

float plain_sum(stats::Target target, const float* values, std::int64_t count) {
#if defined(__x86_64__)
  if (target == stats::Target::kAvx512) {
    return sum_avx512(values, count);
  }
  if (target == stats::Target::kAvx2) {
    return sum_avx2(values, count);
  }
#endif
  static_cast<void>(target);
  return sum_baseline(values, count);
}

}  // namespace msprobe::bench

// SPDX-License-Identifier: Apache-2.0
// The yardstick: what adding up a float array costs, which is about what reading it costs.
#pragma once

#include <cstdint>

#include "stats/kernels.h"

namespace msprobe::bench {

// Adds `count` floats for a target's instruction set, with nothing kept but the sum.
float plain_sum(stats::Target target, const float* values, std::int64_t count);

}  // namespace msprobe::bench

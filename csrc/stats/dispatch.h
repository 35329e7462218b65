// SPDX-License-Identifier: Apache-2.0
// Which kernels run: the widest that this CPU has, or those that MSPROBE_STATS_TARGET names.
#pragma once

#include <vector>

#include "stats/kernels.h"
#include "stats/stats.h"

namespace msprobe::stats {

// Names a target ("baseline", "avx2", "avx512") in the environment; read once, at the first use.
inline constexpr const char* kTargetVariable = "MSPROBE_STATS_TARGET";

// Those that this CPU and its operating system can run, narrowest first.
std::vector<const KernelTable*> available_kernels();

// `wanted` is the variable's text, or null. Throws Error if it names no target, or one that this CPU lacks.
const KernelTable& choose_kernels(const char* wanted);

// The kernels that compute() and accumulate_block() use.
const KernelTable& active_kernels();

// compute() and accumulate_block() on a given target.
Stats compute_with(const KernelTable& kernels, const TensorView& view);
void accumulate_block_with(const KernelTable& kernels, const TensorView& view, std::int64_t block, Partial& into);

}  // namespace msprobe::stats

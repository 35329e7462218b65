// SPDX-License-Identifier: Apache-2.0
// The loops for any CPU of the architecture: SSE2 on x86-64, NEON on aarch64.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "compare/pair_kernels.h"
#include "stats/partial.h"

#define MSPROBE_SIMD_NAMESPACE baseline
#define MSPROBE_SIMD_BYTES 16
#define MSPROBE_SIMD_TARGET gnu::hot

// In this order: each uses what stands above it.
// clang-format off
#include "stats/simd/lanes.inc.h"
#if defined(__aarch64__)
#include "stats/simd/ops_neon.inc.h"
#else
#include "stats/simd/ops_baseline.inc.h"
#endif
#include "stats/simd/sources.inc.h"
#include "compare/simd/pair_kernels.inc.h"
// clang-format on

namespace msprobe::compare {

constinit const PairKernels kBaselinePairKernels = baseline::kPairKernels;

}  // namespace msprobe::compare

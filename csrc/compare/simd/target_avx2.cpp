// SPDX-License-Identifier: Apache-2.0
// The loops for AVX2 with F16C.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "compare/pair_kernels.h"
#include "stats/partial.h"

#include <immintrin.h>

#define MSPROBE_SIMD_NAMESPACE avx2
#define MSPROBE_SIMD_BYTES 32
#define MSPROBE_SIMD_TARGET gnu::target("avx2,f16c")

// In this order: each uses what stands above it.
// clang-format off
#include "stats/simd/lanes.inc.h"
#include "stats/simd/ops_avx2.inc.h"
#include "stats/simd/sources.inc.h"
#include "compare/simd/pair_kernels.inc.h"
// clang-format on

namespace msprobe::compare {

constinit const PairKernels kAvx2PairKernels = avx2::kPairKernels;

}  // namespace msprobe::compare

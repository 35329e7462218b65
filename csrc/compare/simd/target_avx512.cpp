// SPDX-License-Identifier: Apache-2.0
// The loops for AVX-512 (F, BW, DQ, VL).
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "compare/pair_kernels.h"
#include "stats/partial.h"

#include <immintrin.h>

#define MSPROBE_SIMD_NAMESPACE avx512
#define MSPROBE_SIMD_BYTES 64
#define MSPROBE_SIMD_TARGET gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c")

// In this order: each uses what stands above it.
// clang-format off
#include "stats/simd/lanes.inc.h"
#include "stats/simd/ops_avx512.inc.h"
#include "stats/simd/sources.inc.h"
#include "compare/simd/pair_kernels.inc.h"
// clang-format on

namespace msprobe::compare {

constinit const PairKernels kAvx512PairKernels = avx512::kPairKernels;

}  // namespace msprobe::compare

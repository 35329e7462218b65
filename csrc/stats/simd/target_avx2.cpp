// SPDX-License-Identifier: Apache-2.0
// The kernels for AVX2 with F16C.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "stats/kernels.h"
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
#include "stats/simd/narrow_kernels.inc.h"
#include "stats/simd/wide_kernels.inc.h"
#include "stats/simd/complex_kernels.inc.h"
#include "stats/simd/table.inc.h"
// clang-format on

namespace msprobe::stats {

constinit const KernelTable kAvx2Kernels = avx2::make_table(Target::kAvx2, "avx2");

}  // namespace msprobe::stats

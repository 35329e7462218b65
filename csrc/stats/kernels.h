// SPDX-License-Identifier: Apache-2.0
// The table of span kernels that each target (instruction set) fills.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/dtype.h"
#include "stats/partial.h"

namespace msprobe::stats {

enum class Target : std::uint8_t {
  kBaseline,  // what every CPU of the architecture has: SSE2, NEON
  kAvx2,      // with F16C
  kAvx512,    // F, BW, DQ, VL
};

// Adds `count` adjacent elements, of whatever alignment, to a partial.
using SpanKernel = void (*)(const void* elements, std::int64_t count, Partial& into);

struct KernelTable {
  Target target;
  std::string_view name;  // what the environment variable calls it
  int vector_bytes;
  // By DType; null for the types of one byte that go through byte_histogram.h.
  std::array<SpanKernel, static_cast<std::size_t>(DType::kUnknown)> span;
};

// Every target does the same arithmetic in the same order: their results are equal to the bit.
extern const KernelTable kBaselineKernels;
#if defined(__x86_64__)
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
#endif

}  // namespace msprobe::stats

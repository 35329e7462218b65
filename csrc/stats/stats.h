// SPDX-License-Identifier: Apache-2.0
// Statistics of one tensor in one pass: the numbers that stand in a record of dump.json.
#pragma once

#include <cstdint>
#include <span>

#include "format/dtype.h"

namespace msprobe::stats {

// A tensor in host memory as the kernels see it: no ownership, strides in elements (may be 0 or negative).
struct TensorView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::span<const std::int64_t> sizes;    // empty: 0-dim, one element
  std::span<const std::int64_t> strides;  // as long as sizes
};

// An extreme value, exact for 64-bit integers, which a double cannot hold.
struct Extreme {
  enum class Kind : std::uint8_t { kNone, kReal, kSigned, kUnsigned } kind = Kind::kNone;
  union {
    double real = 0;           // kReal: floating and complex (magnitude) tensors
    std::int64_t signed_int;   // kSigned: int8..int64
    std::uint64_t unsigned_int;  // kUnsigned: bool, uint8..uint64
  };
};

// The finished numbers. count == 0 (an empty tensor) leaves max/min kNone and mean/norm without meaning.
// A NaN anywhere makes max, min, mean and norm NaN, as torch's amax, amin, mean and norm do.
struct Stats {
  std::int64_t count = 0;  // values looked at (twice the elements for packed fp4)
  Extreme max;
  Extreme min;
  double mean = 0;
  double norm = 0;  // L2
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::int64_t zero = 0;  // both signs
};

// The whole tensor on the calling thread. dtype must not be kUnknown.
Stats compute(const TensorView& view);

// --- the same in pieces, for callers that bring their own threads -------------------------------------------
// A tensor is cut into num_blocks(view) blocks of a fixed number of elements; any thread may accumulate any block; merging
// the partials in the order of the blocks gives the same bits however many threads there were, and compute() does just that.
struct Partial;  // defined in stats/partial.h

std::int64_t num_elements(const TensorView& view) noexcept;
std::int64_t num_blocks(const TensorView& view);
void accumulate_block(const TensorView& view, std::int64_t block, Partial& into);
void merge(Partial& into, const Partial& next);
Stats finish(const Partial& total);

// Plain loops over one element at a time, long double sums: what every fast kernel is compared with in tests and fuzzers.
Stats reference(const TensorView& view);

}  // namespace msprobe::stats

// SPDX-License-Identifier: Apache-2.0
// Statistics of one tensor in one pass: the numbers that stand in a record of dump.json.
#pragma once

#include <cstdint>
#include <span>

#include "format/dtype.h"

namespace msprobe::stats {

// A tensor in host memory as the kernels see it: no ownership, any alignment. Strides are in elements; they may be 0 (expanded),
// negative (flipped), and overlap. An element that occurs several times counts as often. The number of elements, repeats
// included, must fit an int64. Conjugated views need no care (magnitudes are the same); a lazily negated one must be resolved.
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
    double real = 0;             // kReal: floating and complex (magnitude) tensors
    std::int64_t signed_int;     // kSigned: int8..int64
    std::uint64_t unsigned_int;  // kUnsigned: bool, uint8..uint64
  };
};

// The finished numbers. count == 0 (an empty tensor) leaves max/min kNone and mean/norm without meaning.
//
// What is not finite follows torch's amax, amin, mean and norm:
//   NaN anywhere           max, min, mean and norm are NaN, whatever else there is
//   infinities, no NaN     max and min are right; norm is +Inf; mean is that infinity, or NaN if both signs occur
// Bool counts as 0 and 1 (any byte but 0 is true). Complex values count by magnitude, as C99's hypot has it: infinite if either
// part is, even beside a NaN. An extreme of zero is +0. A packed fp4 byte is two values.
//
// How exact they are:
//   max, min   exact; magnitudes of complex values to two units in a double's last place
//   mean       of integers: exact, rounded at the end. Of floating values: sums carry their rounding errors along (some 106 bits
//              for float64 and complex; others lose bits only where the values of 8192 neighbours span more than 2^20 in size)
//   norm       1e-13 relative, without overflow or underflow on the way: it is infinite only if the true norm is beyond a double
// Results do not depend on the instruction set, the number of threads, or the caller's mode of flushing denormals. They may
// differ in the last bits between layouts of the same values, which are read in the order of their memory.
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

// The whole tensor on the calling thread; allocates nothing. Throws Error if the dtype is kUnknown, if sizes and strides differ
// in length, or if the environment forces a target that this CPU lacks (dispatch.h).
Stats compute(const TensorView& view);

// --- the same in pieces, for callers that bring their own threads -------------------------------------------
// A tensor is cut into num_blocks(view) blocks of a fixed number of elements; any thread may accumulate any block; merging
// the partials in the order of the blocks gives the same bits however many threads there were, and compute() does just that.
struct Partial;  // defined in stats/partial.h

std::int64_t num_elements(const TensorView& view) noexcept;
// 0 for an empty tensor. Repeats that come from a stride of 0 are not read again and make no blocks. Throws as compute() does.
std::int64_t num_blocks(const TensorView& view);
// Adds block number `block` to `into`, as if merged after what is there already. Throws Error if there is no such block.
void accumulate_block(const TensorView& view, std::int64_t block, Partial& into);
// Both must come from blocks of the same view.
void merge(Partial& into, const Partial& next);
Stats finish(const Partial& total);

// Plain loops over one element at a time, long double sums: what every fast kernel is compared with in tests and fuzzers.
Stats reference(const TensorView& view);

}  // namespace msprobe::stats

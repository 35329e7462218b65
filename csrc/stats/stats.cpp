// SPDX-License-Identifier: Apache-2.0
// A tensor cut into blocks, each block walked through the kernels of a target.
#include "stats/stats.h"

#include <algorithm>

#include "base/error.h"
#include "stats/byte_histogram.h"
#include "stats/denormals.h"
#include "stats/dispatch.h"
#include "stats/partial.h"
#include "stats/walk.h"

namespace msprobe::stats {
namespace {

// Elements of a block: some 10 microseconds of work, so that handing one to a thread costs little beside it.
constexpr std::int64_t kBlockElements = std::int64_t{1} << 16;

std::int64_t blocks_of(const Walk& walk) { return (walk.count() + kBlockElements - 1) / kBlockElements; }

void accumulate(const KernelTable& kernels, DType dtype, const Walk& walk, std::int64_t block, Partial& into) {
  const KeepDenormals keep_denormals;
  const std::int64_t first = block * kBlockElements;
  const std::int64_t last = std::min(first + kBlockElements, walk.count());
  Partial partial;
  partial.dtype = dtype;
  partial.repeat = walk.repeat();
  if (ByteHistogram::covers(dtype)) {
    ByteHistogram histogram;
    walk.visit(first, last, [&histogram](const Span& span) { histogram.add(span); });
    histogram.finish(dtype, partial);
  } else {
    const SpanKernel kernel = kernels.span[static_cast<std::size_t>(dtype)];
    walk.visit(first, last, [&](const Span& span) { kernel(span.data, span.count, partial); });
  }
  merge(into, partial);
}

}  // namespace

std::int64_t num_elements(const TensorView& view) noexcept {
  if (std::find(view.sizes.begin(), view.sizes.end(), 0) != view.sizes.end()) {
    return 0;  // whatever the product of the others, which may not fit
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : view.sizes) {
    elements *= size;
  }
  return elements;
}

std::int64_t num_blocks(const TensorView& view) { return blocks_of(Walk(view)); }

void accumulate_block_with(const KernelTable& kernels, const TensorView& view, std::int64_t block, Partial& into) {
  const Walk walk(view);
  if (block < 0 || block >= blocks_of(walk)) {
    fail("a block must be at least 0 and below num_blocks(view) = ", blocks_of(walk), ", got ", block);
  }
  accumulate(kernels, view.dtype, walk, block, into);
}

void accumulate_block(const TensorView& view, std::int64_t block, Partial& into) {
  accumulate_block_with(active_kernels(), view, block, into);
}

Stats compute_with(const KernelTable& kernels, const TensorView& view) {
  const Walk walk(view);
  Partial total;
  const std::int64_t blocks = blocks_of(walk);
  for (std::int64_t block = 0; block < blocks; ++block) {
    accumulate(kernels, view.dtype, walk, block, total);
  }
  return finish(total);
}

Stats compute(const TensorView& view) { return compute_with(active_kernels(), view); }

}  // namespace msprobe::stats

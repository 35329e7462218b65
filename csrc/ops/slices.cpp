// SPDX-License-Identifier: Apache-2.0
// Slices a tensor without a copy.
#include "ops/slices.h"

namespace msprobe::ops {

at::Tensor sliced(const at::Tensor& x, std::span<const Slice> slices) {
  if (slices.empty() || x.layout() != at::kStrided || x.is_nested() || x.is_quantized()) {
    return x;
  }
  at::Tensor view = x;
  for (const Slice& slice : slices) {
    if (slice.dim < -view.dim() || slice.dim >= view.dim()) {
      continue;
    }
    if (!slice.size || view.size(slice.dim) == *slice.size) {
      view = view.slice(slice.dim, slice.begin, slice.end);
    }
  }
  return view;
}

}  // namespace msprobe::ops

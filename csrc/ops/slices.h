// SPDX-License-Identifier: Apache-2.0
// The part of each tensor that is looked at: serving engines pad batches, and padding has no business in the numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace msprobe::ops {

// x[begin:end] along a dimension, with Python's meaning of negative numbers and of bounds that lie outside.
struct Slice {
  std::int64_t dim = 0;
  std::optional<std::int64_t> size;  // only where the dimension has this size
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

// A view of x after all slices in order; dimensions that x does not have are passed over. x itself if it is not dense or quantised.
at::Tensor sliced(const at::Tensor& x, std::span<const Slice> slices);

}  // namespace msprobe::ops

// SPDX-License-Identifier: Apache-2.0
// Joins dimensions, steps through what is left of them, and turns bytes round.
#include "compare/tensor_runs.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace msprobe::compare {
namespace {

template <std::size_t kItemSize>
void copy_strided(const std::byte* from, std::int64_t stride_bytes, std::int64_t count, std::byte* to) noexcept {
  for (std::int64_t index = 0; index < count; ++index) {
    std::memcpy(to + index * static_cast<std::int64_t>(kItemSize), from + index * stride_bytes, kItemSize);
  }
}

void copy_items(const std::byte* from, std::int64_t stride_bytes, std::int64_t item_size, std::int64_t count,
                std::byte* to) noexcept {
  if (stride_bytes == item_size) {
    std::memcpy(to, from, static_cast<std::size_t>(count * item_size));
    return;
  }
  switch (item_size) {
    case 1:
      return copy_strided<1>(from, stride_bytes, count, to);
    case 2:
      return copy_strided<2>(from, stride_bytes, count, to);
    case 4:
      return copy_strided<4>(from, stride_bytes, count, to);
    case 8:
      return copy_strided<8>(from, stride_bytes, count, to);
    default:
      assert(item_size == 16);
      return copy_strided<16>(from, stride_bytes, count, to);
  }
}

void swap_bytes(std::byte* bytes, std::int64_t total, std::int64_t number_bytes) noexcept {
  for (std::int64_t at = 0; at < total; at += number_bytes) {
    std::reverse(bytes + at, bytes + at + number_bytes);
  }
}

}  // namespace

TensorRuns::TensorRuns(const read::PtTensor& tensor) noexcept
    : data_(tensor.data()), item_size_(static_cast<std::int64_t>(dtype_size(tensor.dtype()))) {
  if (tensor.description().big_endian) {
    swapped_bytes_ = is_complex(tensor.dtype()) ? item_size_ / 2 : item_size_;
  }
  for (std::size_t dim = tensor.sizes().size(); dim-- > 0;) {
    add_dim(tensor.sizes()[dim], tensor.strides()[dim]);
  }
  if (dims_ == 0) {
    sizes_[0] = 1;
    strides_[0] = 1;
    dims_ = 1;
  }
}

void TensorRuns::add_dim(std::int64_t size, std::int64_t stride) noexcept {
  if (size == 1) {
    return;
  }
  if (dims_ > 0 && stride == strides_[dims_ - 1] * sizes_[dims_ - 1]) {
    sizes_[dims_ - 1] *= size;
    return;
  }
  assert(dims_ < kMaxDims);
  sizes_[dims_] = size;
  strides_[dims_] = stride;
  ++dims_;
}

const std::byte* TensorRuns::fetch(std::int64_t first, std::int64_t count, std::byte* staging) const noexcept {
  if (dims_ == 1 && strides_[0] == 1 && swapped_bytes_ == 1) {
    return data_ + first * item_size_;
  }
  gather(first, count, staging);
  if (swapped_bytes_ > 1) {
    swap_bytes(staging, count * item_size_, swapped_bytes_);
  }
  return staging;
}

void TensorRuns::gather(std::int64_t first, std::int64_t count, std::byte* to) const noexcept {
  std::array<std::int64_t, kMaxDims> at;  // NOLINT(*-member-init): as many coordinates are set as there are dimensions
  std::int64_t offset = 0;
  for (std::size_t dim = 0; dim < dims_; ++dim) {
    at[dim] = first % sizes_[dim];
    first /= sizes_[dim];
    offset += at[dim] * strides_[dim];
  }
  while (count > 0) {
    const std::int64_t run = std::min(count, sizes_[0] - at[0]);
    copy_items(data_ + offset * item_size_, strides_[0] * item_size_, item_size_, run, to);
    to += run * item_size_;
    count -= run;
    at[0] += run;
    offset += run * strides_[0];
    for (std::size_t dim = 0; at[dim] == sizes_[dim] && dim + 1 < dims_; ++dim) {
      offset += strides_[dim + 1] - sizes_[dim] * strides_[dim];
      at[dim] = 0;
      ++at[dim + 1];
    }
  }
}

}  // namespace msprobe::compare

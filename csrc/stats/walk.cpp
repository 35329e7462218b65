// SPDX-License-Identifier: Apache-2.0
// Brings a view into its simplest form, and steps through it.
#include "stats/walk.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace msprobe::stats {
namespace {

void check(const TensorView& view) {
  if (dtype_size(view.dtype) == 0) {
    fail("statistics need a dtype whose values are numbers, got ", dtype_name(view.dtype),
         "; record the shape only, or cast the tensor first");
  }
  if (view.sizes.size() != view.strides.size()) {
    fail("a tensor needs as many strides as sizes, got ", view.sizes.size(), " sizes and ", view.strides.size(), " strides");
  }
  for (const std::int64_t size : view.sizes) {
    if (size < 0) {
      fail("the sizes of a tensor must not be negative, got ", size);
    }
  }
}

template <std::size_t kItemSize>
void copy_strided(const std::byte* from, std::int64_t stride_bytes, std::int64_t count, std::byte* to) noexcept {
  for (std::int64_t index = 0; index < count; ++index) {
    std::memcpy(to + index * static_cast<std::int64_t>(kItemSize), from + index * stride_bytes, kItemSize);
  }
}

}  // namespace

Walk::Walk(const TensorView& view)
    : data_(static_cast<const std::byte*>(view.data)), item_size_(static_cast<std::int64_t>(dtype_size(view.dtype))) {
  check(view);
  if (std::find(view.sizes.begin(), view.sizes.end(), 0) != view.sizes.end()) {
    count_ = 0;
    return;
  }
  for (std::size_t dim = 0; dim < view.sizes.size(); ++dim) {
    add_dim(view.sizes[dim], view.strides[dim]);
  }
  sort_and_join();
  if (dims_ == 0) {
    sizes_[0] = 1;
    strides_[0] = 1;
    dims_ = 1;
  }
}

void Walk::add_dim(std::int64_t size, std::int64_t stride) {
  if (size == 1) {
    return;
  }
  if (stride == 0) {
    repeat_ *= size;
    return;
  }
  if (dims_ == kMaxDims) {
    fail("a tensor's number of elements must fit 63 bits, got more than ", kMaxDims, " dimensions of size 2 or more");
  }
  if (stride < 0) {
    data_ += (size - 1) * stride * item_size_;
    stride = -stride;
  }
  count_ *= size;
  sizes_[dims_] = size;
  strides_[dims_] = stride;
  ++dims_;
}

// Insertion sort: a handful of dimensions, and no allocation. Of equal strides (overlapping windows) the longer goes inside.
void Walk::sort_and_join() {
  const auto goes_before = [this](std::size_t left, std::size_t right) {
    return strides_[left] != strides_[right] ? strides_[left] < strides_[right] : sizes_[left] > sizes_[right];
  };
  for (std::size_t sorted = 1; sorted < dims_; ++sorted) {
    for (std::size_t dim = sorted; dim > 0 && goes_before(dim, dim - 1); --dim) {
      std::swap(sizes_[dim], sizes_[dim - 1]);
      std::swap(strides_[dim], strides_[dim - 1]);
    }
  }
  std::size_t joined = 0;
  for (std::size_t dim = 1; dim < dims_; ++dim) {
    if (strides_[dim] == strides_[joined] * sizes_[joined]) {
      sizes_[joined] *= sizes_[dim];
    } else {
      ++joined;
      sizes_[joined] = sizes_[dim];
      strides_[joined] = strides_[dim];
    }
  }
  dims_ = dims_ == 0 ? 0 : joined + 1;
}

bool Walk::reads_in_place() const noexcept {
  return strides_[0] == 1 && (dims_ == 1 || sizes_[0] * item_size_ >= kShortRunBytes);
}

Walk::Cursor Walk::cursor_at(std::int64_t position) const noexcept {
  Cursor cursor;  // NOLINT(*-member-init): as many coordinates are set as there are dimensions
  cursor.offset = 0;
  for (std::size_t dim = 0; dim < dims_; ++dim) {
    cursor.at[dim] = position % sizes_[dim];
    cursor.offset += cursor.at[dim] * strides_[dim];
    position /= sizes_[dim];
  }
  return cursor;
}

void Walk::advance(Cursor& cursor, std::int64_t steps) const noexcept {
  assert(steps <= sizes_[0] - cursor.at[0]);
  cursor.at[0] += steps;
  cursor.offset += steps * strides_[0];
  for (std::size_t dim = 0; cursor.at[dim] == sizes_[dim];) {
    cursor.offset -= sizes_[dim] * strides_[dim];
    cursor.at[dim] = 0;
    ++dim;
    if (dim == dims_) {
      return;  // past the last element
    }
    ++cursor.at[dim];
    cursor.offset += strides_[dim];
  }
}

void Walk::gather_run(const Cursor& cursor, std::int64_t count, std::byte* to) const noexcept {
  const std::byte* from = data_ + cursor.offset * item_size_;
  if (strides_[0] == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count * item_size_));
    return;
  }
  const std::int64_t stride_bytes = strides_[0] * item_size_;
  switch (item_size_) {
    case 1:
      return copy_strided<1>(from, stride_bytes, count, to);
    case 2:
      return copy_strided<2>(from, stride_bytes, count, to);
    case 4:
      return copy_strided<4>(from, stride_bytes, count, to);
    case 8:
      return copy_strided<8>(from, stride_bytes, count, to);
    default:
      assert(item_size_ == 16);
      return copy_strided<16>(from, stride_bytes, count, to);
  }
}

}  // namespace msprobe::stats

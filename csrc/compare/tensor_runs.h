// SPDX-License-Identifier: Apache-2.0
// A saved tensor's elements in row-major order of its indices, whatever its strides: in place where they lie so, else copied together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "read/pt_file.h"

namespace msprobe::compare {

// Refers to the tensor, which must live longer. Any thread may read.
class TensorRuns {
 public:
  explicit TensorRuns(const read::PtTensor& tensor) noexcept;

  // Elements first .. first+count-1 as bytes in this machine's order, of any alignment. They lie in `staging`, which has room for
  // them, unless the file has them side by side already. There must be such elements, and at least one.
  const std::byte* fetch(std::int64_t first, std::int64_t count, std::byte* staging) const noexcept;

 private:
  static constexpr std::size_t kMaxDims = 64;

  void add_dim(std::int64_t size, std::int64_t stride) noexcept;
  void gather(std::int64_t first, std::int64_t count, std::byte* to) const noexcept;

  const std::byte* data_;
  std::int64_t item_size_;
  std::int64_t swapped_bytes_ = 1;                // of each number whose bytes are in the other order; 1 if none is
  std::size_t dims_ = 0;                          // at least 1 once constructed
  std::array<std::int64_t, kMaxDims> sizes_{};    // innermost first, neighbours joined where they lie in one run
  std::array<std::int64_t, kMaxDims> strides_{};  // in elements
};

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// The order in which a tensor's memory is read. No statistic depends on the order of the elements, so a view is first brought
// into the simplest form with the same elements: strides made positive, sorted, neighbours joined. A transposed or flipped
// dense tensor thereby becomes one contiguous run, and an expanded dimension is read once and counted `repeat` times.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "stats/stats.h"

namespace msprobe::stats {

// A run of elements that lie side by side.
struct Span {
  const std::byte* data;
  std::int64_t count;
};

class Walk {
 public:
  // Throws Error if sizes and strides differ in length or the dtype has no number meaning.
  explicit Walk(const TensorView& view);

  // Elements to read; 0 if any size is 0.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  // How often each of them counts.
  [[nodiscard]] std::int64_t repeat() const noexcept { return repeat_; }

  // Calls visit(Span) for the elements first .. last-1 of the walk. Long runs are visited where they are; what is scattered
  // goes through a buffer of kStagingBytes on the stack.
  template <class Visit>
  void visit(std::int64_t first, std::int64_t last, Visit&& visit) const {
    if (count_ == 0) {
      return;
    }
    if (reads_in_place()) {
      visit_in_place(first, last, visit);
    } else {
      visit_staged(first, last, visit);
    }
  }

 private:
  static constexpr std::size_t kStagingBytes = 16384;
  // Runs shorter than this cost more in starting and ending a kernel than in being copied together first.
  static constexpr std::int64_t kShortRunBytes = 4096;
  // Dimensions of size 2 or more; more than 62 of them cannot be indexed by an int64.
  static constexpr std::size_t kMaxDims = 64;

  // A position in the walk: the coordinates, and the offset in elements that they amount to.
  struct Cursor {
    std::array<std::int64_t, kMaxDims> at;
    std::int64_t offset;
  };

  void add_dim(std::int64_t size, std::int64_t stride);
  void sort_and_join();
  [[nodiscard]] bool reads_in_place() const noexcept;
  [[nodiscard]] Cursor cursor_at(std::int64_t position) const noexcept;
  // Moves along the innermost dimension by no more than is left of it, then into the next row.
  void advance(Cursor& cursor, std::int64_t steps) const noexcept;
  void gather_run(const Cursor& cursor, std::int64_t count, std::byte* to) const noexcept;

  template <class Visit>
  void visit_in_place(std::int64_t first, std::int64_t last, Visit& visit) const {
    Cursor cursor = cursor_at(first);
    while (first < last) {
      const std::int64_t run = std::min(last - first, sizes_[0] - cursor.at[0]);
      visit(Span{data_ + cursor.offset * item_size_, run});
      first += run;
      advance(cursor, run);
    }
  }

  template <class Visit>
  void visit_staged(std::int64_t first, std::int64_t last, Visit& visit) const {
    alignas(64) std::array<std::byte, kStagingBytes> staging;  // NOLINT(*-member-init): filled as far as it is read
    const std::int64_t capacity = static_cast<std::int64_t>(kStagingBytes) / item_size_;
    Cursor cursor = cursor_at(first);
    while (first < last) {
      const std::int64_t wanted = std::min(last - first, capacity);
      for (std::int64_t staged = 0; staged < wanted;) {
        const std::int64_t run = std::min(wanted - staged, sizes_[0] - cursor.at[0]);
        gather_run(cursor, run, staging.data() + staged * item_size_);
        staged += run;
        advance(cursor, run);
      }
      visit(Span{staging.data(), wanted});
      first += wanted;
    }
  }

  const std::byte* data_;
  std::int64_t item_size_;
  std::int64_t count_ = 1;
  std::int64_t repeat_ = 1;
  std::size_t dims_ = 0;                        // at least 1 once constructed
  std::array<std::int64_t, kMaxDims> sizes_;    // innermost (smallest stride) first; only dims_ of them are set
  std::array<std::int64_t, kMaxDims> strides_;  // in elements, positive
};

}  // namespace msprobe::stats

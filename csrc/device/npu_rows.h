// SPDX-License-Identifier: Apache-2.0
// Device memory for results: one row of 32 bytes a tensor, with a pinned mirror on the host.
//
//   byte  0        8        16       24       32
//         | max    | min    | mean   | norm   |    max, min: the tensor's own type or what it was cast to (up to 8 bytes)
//                                                  mean: float32 or the tensor's own type; norm: float32 or float64
// A row whose norm field is kSentinel has not been written since it was last read.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "device/npu_runtime.h"

namespace msprobe::device::npu {

inline constexpr std::size_t kRowBytes = 32;
inline constexpr std::size_t kMaxOffset = 0;
inline constexpr std::size_t kMinOffset = 8;
inline constexpr std::size_t kMeanOffset = 16;
inline constexpr std::size_t kNormOffset = 24;
// As float32 it begins with -1, which no L2 norm is; as float64 it is a NaN with a payload that no arithmetic gives.
inline constexpr std::uint64_t kSentinel = 0xFFFFFFFFBF800000U;

// A run of rows. While a graph writes to one it is not freed.
struct RowBlock {
  std::byte* device = nullptr;
  std::byte* host = nullptr;  // pinned, same layout
  std::int64_t capacity = 0;
  std::int64_t used = 0;                     // guarded by the pool
  std::atomic<std::int64_t> outstanding{0};  // transient rows handed out and not yet read

  [[nodiscard]] std::byte* device_row(std::int64_t index) const { return device + static_cast<std::size_t>(index) * kRowBytes; }
  [[nodiscard]] std::byte* host_row(std::int64_t index) const { return host + static_cast<std::size_t>(index) * kRowBytes; }
};

struct Row {
  RowBlock* block = nullptr;
  std::int64_t index = 0;

  [[nodiscard]] std::byte* device() const { return block->device_row(index); }
  [[nodiscard]] std::byte* host() const { return block->host_row(index); }
};

bool is_sentinel(const std::byte* row) noexcept;

// Rows of one dumper on one device. Thread-safe. The device must be current in the caller.
class RowPool {
 public:
  // Rows that belong to a captured site as long as its graph lives. Made in advance by reserve(); grown if that was not enough.
  Row take_captured();
  // Captured rows that nothing writes to any more.
  void give_back(RowBlock& block, std::int64_t first, std::int64_t rows);
  void reserve(std::int64_t rows);

  // Rows of eager calls: used once, free again when the callback has read them (release()).
  Row take_transient();
  static void release(RowBlock& block, std::int64_t rows) noexcept {
    block.outstanding.fetch_sub(rows, std::memory_order_acq_rel);
  }

  // Whether graphs hold rows.
  [[nodiscard]] bool holds_captured() const noexcept { return held_.load(std::memory_order_acquire) > 0; }

  // Gives all memory back; nothing may be using it.
  void free() noexcept;

  // Device memory with kSentinelRows rows of sentinels, the source of resets.
  const std::byte* sentinels();

  static constexpr std::int64_t kSentinelRows = 1024;

 private:
  RowBlock& add_block(std::vector<std::unique_ptr<RowBlock>>& blocks, std::int64_t rows);

  std::mutex mutex_;
  std::vector<std::unique_ptr<RowBlock>> captured_;
  std::vector<std::unique_ptr<RowBlock>> transient_;
  RowBlock* current_transient_ = nullptr;
  std::byte* sentinels_ = nullptr;
  std::vector<Row> returned_;          // captured ones, those of the lowest addresses last
  std::atomic<std::int64_t> held_{0};  // captured rows that graphs hold
};

}  // namespace msprobe::device::npu

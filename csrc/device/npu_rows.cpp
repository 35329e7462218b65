// SPDX-License-Identifier: Apache-2.0
// Allocation and reuse of rows.
#include "device/npu_rows.h"

#include <algorithm>
#include <utility>

namespace msprobe::device::npu {
namespace {

constexpr std::int64_t kRowsPerBlock = 1024;

std::vector<std::byte> sentinel_rows(std::int64_t rows) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(rows) * kRowBytes);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * kRowBytes + kNormOffset, &kSentinel, sizeof kSentinel);
  }
  return bytes;
}

}  // namespace

bool is_sentinel(const std::byte* row) noexcept { return std::memcmp(row + kNormOffset, &kSentinel, sizeof kSentinel) == 0; }

RowBlock& RowPool::add_block(std::vector<std::unique_ptr<RowBlock>>& blocks, std::int64_t rows) {
  auto block = std::make_unique<RowBlock>();
  block->capacity = rows;
  const std::vector<std::byte> fresh = sentinel_rows(rows);
  block->device = static_cast<std::byte*>(allocate_device(fresh.size()));
  block->host = static_cast<std::byte*>(allocate_pinned(fresh.size()));
  std::memcpy(block->host, fresh.data(), fresh.size());
  copy_to_device(block->device, fresh.data(), fresh.size());
  blocks.push_back(std::move(block));
  return *blocks.back();
}

void RowPool::free() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto* blocks : {&captured_, &transient_}) {
    for (const auto& block : *blocks) {
      free_device(block->device);
      free_pinned(block->host);
    }
    blocks->clear();
  }
  free_device(std::exchange(sentinels_, nullptr));
  current_transient_ = nullptr;
  returned_.clear();
}

Row RowPool::take_captured() {
  held_.fetch_add(1, std::memory_order_acq_rel);
  const std::lock_guard lock(mutex_);
  if (!returned_.empty()) {
    const Row row = returned_.back();
    returned_.pop_back();
    return row;
  }
  if (captured_.empty() || captured_.back()->used == captured_.back()->capacity) {
    add_block(captured_, kRowsPerBlock);
  }
  RowBlock& block = *captured_.back();
  return {&block, block.used++};
}

// The rows become sentinels again: the graph may have ended between their writing and their reset.
void RowPool::give_back(RowBlock& block, std::int64_t first, std::int64_t rows) {
  const std::vector<std::byte> fresh = sentinel_rows(rows);
  copy_to_device(block.device_row(first), fresh.data(), fresh.size());
  const std::lock_guard lock(mutex_);
  for (std::int64_t i = 0; i < rows; ++i) {
    returned_.push_back({&block, first + i});
  }
  // Neighbours are taken one after the other, so that they travel in one copy.
  std::sort(returned_.begin(), returned_.end(),
            [](const Row& left, const Row& right) { return left.device() > right.device(); });
  held_.fetch_sub(rows, std::memory_order_acq_rel);
}

void RowPool::reserve(std::int64_t rows) {
  const std::lock_guard lock(mutex_);
  const std::int64_t left = captured_.empty() ? 0 : captured_.back()->capacity - captured_.back()->used;
  if (left + static_cast<std::int64_t>(returned_.size()) < rows) {
    add_block(captured_, std::max(rows, kRowsPerBlock));
  }
}

Row RowPool::take_transient() {
  const std::lock_guard lock(mutex_);
  if (current_transient_ == nullptr || current_transient_->used == current_transient_->capacity) {
    const auto idle = std::find_if(transient_.begin(), transient_.end(), [](const auto& block) {
      return block->used == block->capacity && block->outstanding.load(std::memory_order_acquire) == 0;
    });
    current_transient_ = idle != transient_.end() ? idle->get() : &add_block(transient_, kRowsPerBlock);
    current_transient_->used = 0;
  }
  current_transient_->outstanding.fetch_add(1, std::memory_order_acq_rel);
  return {current_transient_, current_transient_->used++};
}

const std::byte* RowPool::sentinels() {
  const std::lock_guard lock(mutex_);
  if (sentinels_ == nullptr) {
    const std::vector<std::byte> fresh = sentinel_rows(kSentinelRows);
    auto* memory = static_cast<std::byte*>(allocate_device(fresh.size()));
    copy_to_device(memory, fresh.data(), fresh.size());
    sentinels_ = memory;
  }
  return sentinels_;
}

}  // namespace msprobe::device::npu

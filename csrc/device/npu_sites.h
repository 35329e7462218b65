// SPDX-License-Identifier: Apache-2.0
// Tensors whose numbers lie in rows, and how the rows get to the host: few copies, records out of what was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/npu_rows.h"
#include "device/npu_stats.h"
#include "log/session.h"

namespace msprobe::device::npu {

// One tensor that will be read from a row: at one time (eager) or at every replay (captured). Or a host tensor's record among them.
struct Site {
  log::Record record;  // without numbers, unless it is of a host tensor
  RowFormat format;
  Row row;                   // without a block: a host tensor's record
  aclmdlRI graph = nullptr;  // null: eager

  [[nodiscard]] bool has_row() const noexcept { return row.block != nullptr; }
};

// Rows that follow each other in one block travel in one copy.
struct Range {
  RowBlock* block;
  std::int64_t first;
  std::int64_t rows;
};

std::vector<Range> ranges_of(std::span<const Site> sites);
std::size_t bytes_of(const Range& range);

// Queues (or captures) that the rows become sentinels, of which `sentinels` has RowPool::kSentinelRows.
void queue_reset(const Range& range, const std::byte* sentinels, aclrtStream stream);

// The records of what has been written among `sites`, from their host rows. `replay`: of the captured ones.
std::vector<log::Record> written(std::span<const Site> sites, std::uint64_t replay, log::Session& session);

// Gives the rows of eager sites back.
void release_transient(std::span<const Site> sites);

}  // namespace msprobe::device::npu

// SPDX-License-Identifier: Apache-2.0
// Runs of rows, and records of what is in them.
#include "device/npu_sites.h"

#include <algorithm>
#include <string>

namespace msprobe::device::npu {

std::vector<Range> ranges_of(std::span<const Site> sites) {
  std::vector<Range> ranges;
  for (const Site& site : sites) {
    if (!site.has_row()) {
      continue;
    }
    if (!ranges.empty() && ranges.back().block == site.row.block &&
        ranges.back().first + ranges.back().rows == site.row.index) {
      ++ranges.back().rows;
    } else {
      ranges.push_back({site.row.block, site.row.index, 1});
    }
  }
  return ranges;
}

std::size_t bytes_of(const Range& range) { return static_cast<std::size_t>(range.rows) * kRowBytes; }

void queue_reset(const Range& range, const std::byte* sentinels, aclrtStream stream) {
  for (std::int64_t done = 0; done < range.rows; done += RowPool::kSentinelRows) {
    const std::int64_t rows = std::min(range.rows - done, RowPool::kSentinelRows);
    queue_copy_on_device(range.block->device_row(range.first + done), sentinels, static_cast<std::size_t>(rows) * kRowBytes,
                         stream);
  }
}

std::vector<log::Record> written(std::span<const Site> sites, std::uint64_t replay, log::Session& session) {
  std::vector<log::Record> records;
  records.reserve(sites.size());
  std::size_t missing = 0;
  for (const Site& site : sites) {
    if (site.has_row() && is_sentinel(site.row.host())) {
      missing += site.graph == nullptr ? 1 : 0;  // a captured site may lie in a branch that was not taken
      continue;
    }
    records.push_back(site.record);
    records.back().replay = site.graph == nullptr ? 0 : replay;
    if (site.has_row()) {
      records.back().stats = read_row(site.row.host(), site.format);
    }
  }
  if (missing > 0) {
    session.count_dropped(missing);
    session.background_error("msprobe: " + std::to_string(missing) + " records of a forward did not arrive from the device");
  }
  return records;
}

void release_transient(std::span<const Site> sites) {
  for (const Site& site : sites) {
    if (site.graph == nullptr && site.has_row()) {
      RowPool::release(*site.row.block, 1);
    }
  }
}

}  // namespace msprobe::device::npu

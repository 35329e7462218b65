// SPDX-License-Identifier: Apache-2.0
// The captured forwards of one dumper, and how often each was replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace msprobe::log {

using GraphId = std::uint64_t;

// Thread-safe. One entry a captured forward: a graph that holds two forwards has two.
class Graphs {
 public:
  struct Entry {
    GraphId id = 0;             // from 0, in order of capture
    std::int64_t sites = 0;     // tensors that a replay records
    std::uint64_t replays = 0;  // since the last take()
  };

  GraphId add(std::int64_t sites) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({entries_.size(), sites, 0});
    return entries_.back().id;
  }
  void add_site(GraphId id) {
    const std::lock_guard lock(mutex_);
    ++entries_[id].sites;
  }
  void replayed(GraphId id) {
    const std::lock_guard lock(mutex_);
    ++entries_[id].replays;
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }
  [[nodiscard]] std::vector<Entry> all() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  // Counts from 0 again, what came since `counted` was taken apart.
  void end_step(const std::vector<Entry>& counted) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : counted) {
      entries_[entry.id].replays -= entry.replays;
    }
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace msprobe::log

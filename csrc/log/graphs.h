// SPDX-License-Identifier: Apache-2.0
// The captured forwards of one dumper, while their graphs live, and how often each was replayed.
#pragma once

#include <cstdint>
#include <map>
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
    std::uint64_t replays = 0;  // in this step
  };

  GraphId add(std::int64_t sites) {
    const std::lock_guard lock(mutex_);
    const GraphId id = next_++;
    entries_[id] = {{id, sites, 0}, false};
    return id;
  }
  void add_site(GraphId id) {
    const std::lock_guard lock(mutex_);
    ++entries_.at(id).entry.sites;
  }
  void replayed(GraphId id) {
    const std::lock_guard lock(mutex_);
    ++entries_.at(id).entry.replays;
  }
  // Its graph is gone: it leaves with the step in which it was replayed last.
  void ended(GraphId id) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(id);
    known->second.ended = true;
    forget_if_over(known);
  }

  // How many there have been.
  [[nodiscard]] GraphId count() const {
    const std::lock_guard lock(mutex_);
    return next_;
  }
  [[nodiscard]] std::vector<Entry> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<Entry> all;
    all.reserve(entries_.size());
    for (const auto& [id, known] : entries_) {
      all.push_back(known.entry);
    }
    return all;
  }
  // Counts from 0 again, what came since `counted` was taken apart.
  void end_step(const std::vector<Entry>& counted) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : counted) {
      const auto known = entries_.find(entry.id);
      if (known == entries_.end()) {
        continue;
      }
      known->second.entry.replays -= entry.replays;
      forget_if_over(known);
    }
  }

 private:
  struct Known {
    Entry entry;
    bool ended = false;
  };

  // With mutex_ held.
  void forget_if_over(std::map<GraphId, Known>::iterator known) {
    if (known->second.ended && known->second.entry.replays == 0) {
      entries_.erase(known);
    }
  }

  mutable std::mutex mutex_;
  std::map<GraphId, Known> entries_;
  GraphId next_ = 0;
};

}  // namespace msprobe::log

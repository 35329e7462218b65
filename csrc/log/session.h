// SPDX-License-Identifier: Apache-2.0
// What one dumper knows on the host: its tags, shapes, notes, records, what its threads are doing, and errors of background threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/account.h"
#include "log/graphs.h"
#include "log/host_log.h"
#include "log/interner.h"
#include "log/lanes.h"
#include "log/tag.h"

namespace msprobe::log {

// Looks shapes up by any range of int64, so that a known shape costs no allocation.
struct ShapeLess {
  using is_transparent = void;
  template <class Left, class Right>
  bool operator()(const Left& left, const Right& right) const {
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  }
};

// Shared by operators, callbacks and the dumper; every member may be used from any thread.
class Session {
 public:
  Session() : Session(Wanted{}) {}
  explicit Session(Wanted wanted) : lanes(std::move(wanted)) { notes.intern(std::string_view{}); }  // kNoNote

  TagTable tags;
  Interner<std::vector<std::int64_t>, ShapeLess> shapes;
  Interner<std::string> notes;
  HostLog host_log;
  Lanes lanes;
  Account account;
  Graphs graphs;

  // Positions of records, from 1.
  std::uint64_t next_position() noexcept { return position_.fetch_add(1, std::memory_order_relaxed); }

  // A closed session takes no more records: graphs captured under it stay valid and go on replaying.
  void close() noexcept { closed_.store(true, std::memory_order_release); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  // An error where nobody can be told (a device's callback thread): kept, and thrown once by the next throw_background_error.
  void background_error(std::string message) noexcept;
  void throw_background_error();
  // Records, or saved tensors, that are lost: each loss is an error somewhere, too.
  void count_dropped(std::uint64_t records) noexcept { dropped_.fetch_add(records, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> position_{1};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> has_error_{false};
  std::mutex error_mutex_;
  std::string error_;
  std::uint64_t error_count_ = 0;
};

}  // namespace msprobe::log

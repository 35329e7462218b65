// SPDX-License-Identifier: Apache-2.0
// What one dumper knows on the host: its tags, shapes, notes, records, and errors of background threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "log/host_log.h"
#include "log/interner.h"
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
  Session() { notes.intern(std::string_view{}); }  // kNoNote

  TagTable tags;
  Interner<std::vector<std::int64_t>, ShapeLess> shapes;
  Interner<std::string> notes;
  HostLog host_log;

  // Positions of records, and numbers of commits, from 1.
  std::uint64_t next_position() noexcept { return position_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t next_forward() noexcept { return forward_.fetch_add(1, std::memory_order_relaxed); }

  // Whether a thread is inside an outermost forward: its records belong together, in the step in which that forward ends.
  void enter_forward();
  void leave_forward();
  [[nodiscard]] bool in_forward(std::thread::id thread) const;
  [[nodiscard]] bool any_in_forward() const;

  // A closed session takes no more records: graphs captured under it stay valid and go on replaying.
  void close() noexcept { closed_.store(true, std::memory_order_release); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  // An error where nobody can be told (a device's callback thread): kept, and thrown once by the next throw_background_error.
  void background_error(std::string message) noexcept;
  void throw_background_error();

 private:
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> position_{1};
  std::atomic<std::uint64_t> forward_{1};
  mutable std::mutex forwards_mutex_;
  std::set<std::thread::id> in_forward_;
  std::atomic<bool> has_error_{false};
  std::mutex error_mutex_;
  std::string error_;
  std::uint64_t error_count_ = 0;
};

}  // namespace msprobe::log

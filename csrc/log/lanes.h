// SPDX-License-Identifier: Apache-2.0
// What each thread is doing: which forward it is in, which calls are open in it, and whether its next tensor is wanted. All of it
// follows the order in which a program (or a capture) comes to its tensors; what a device makes of it later does not matter here.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "log/tag.h"

namespace msprobe::log {

// One call of a module or API, as the program makes it. A captured call keeps its number over all replays.
using CallId = std::uint64_t;

// Which tensors are wanted, beyond what the hooks decide. Names are those of tags.
struct Wanted {
  std::string scope_first;         // recording begins with each call of this module; empty: no scope
  std::string scope_last;          // and ends with that of this one
  bool scope_first_wanted = true;  // false: it only marks the scope
  bool scope_last_wanted = true;
  bool modules = true;  // false: modules only mark the scope
  bool inputs = true;
  bool outputs = true;
};

// Thread-safe; each thread has a lane of its own.
class Lanes {
 public:
  // This thread's next tensor.
  struct Place {
    bool wanted = false;        // by scope and section: if not, it leaves no record
    bool recording = false;     // as of the beginning of the forward: what runs right now is recorded
    std::uint64_t forward = 0;  // number of the forward, from 1
    CallId call = 0;
  };

  Lanes() = default;
  explicit Lanes(Wanted wanted) : wanted_(std::move(wanted)) {}

  Place next(const Tag& tag);

  // An outermost forward of this thread begins: its records belong together, in the step in which it ends.
  void enter_forward();
  // The number of this thread's forward; in none, one begins.
  std::uint64_t forward();
  // A number for records that belong to no forward.
  std::uint64_t fresh_forward();
  // The forward is over, entered or not: calls still open are closed.
  void end_forward();
  // Part of it is over and its records are on their way: what follows has a number of its own, everything else goes on. In no entered
  // forward the same as end_forward().
  void end_part();
  // As end_forward(), unless the thread is inside an entered forward.
  void settle();

  // Whether a thread is inside an entered forward or an open call.
  [[nodiscard]] bool busy(std::thread::id thread) const;
  [[nodiscard]] bool any_entered() const;

  // Off: nothing that runs is recorded. Graphs are captured all the same, so that they record when it is on again.
  void set_recording(bool on) noexcept { recording_.store(on, std::memory_order_release); }
  [[nodiscard]] bool recording() const noexcept { return recording_.load(std::memory_order_acquire); }

 private:
  struct OpenCall {
    CallId id;
    std::vector<std::uint32_t> places;  // of the tags seen in it
  };
  struct Lane {
    std::uint64_t forward = 0;  // 0: none yet
    bool entered = false;
    bool recording = false;  // of an entered forward
    bool in_scope = false;
    std::unordered_map<NameId, std::vector<OpenCall>> open;  // calls of one name, innermost last
    std::int64_t open_calls = 0;
  };

  CallId call_of(Lane& lane, const Tag& tag);
  bool pass_scope(Lane& lane, const Tag& tag) const;
  [[nodiscard]] bool wants_module(const Tag& tag) const;
  void begin(Lane& lane) { lane.forward = lane.forward == 0 ? next_forward_++ : lane.forward; }

  const Wanted wanted_;
  std::atomic<bool> recording_{true};
  mutable std::mutex mutex_;
  std::unordered_map<std::thread::id, Lane> lanes_;
  std::uint64_t next_forward_ = 1;
  CallId next_call_ = 1;
};

}  // namespace msprobe::log

// SPDX-License-Identifier: Apache-2.0
// An event: a mark in a stream's order that streams and the host can wait for.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "acl/acl.h"
#include "alive.h"

namespace hostnpu {

class Capture;

class Event : public Alive<Event> {
 public:
  enum class Kind {
    kOrdinary,  // aclrtCreateEventExWithFlag: every record starts a new generation; may be captured
    kLegacy,    // aclrtCreateEvent, aclrtCreateEventWithFlag: as above, but never captured
    kExternal,  // ACL_EVENT_EXTERNAL: a flag that record raises and reset lowers, the same inside and outside of graphs
  };

  explicit Event(Kind event_kind, bool waited_for = true) : kind(event_kind), can_be_waited_for(waited_for) {}

  const Kind kind;
  const bool can_be_waited_for;  // by streams and captures; the flags of others ask only for time or progress

  // Generations: begin_record() on the thread that submits, complete() when the stream gets there.
  std::uint64_t begin_record();
  void complete(std::uint64_t generation);
  std::uint64_t recorded() const;
  void wait_on_stream(std::uint64_t generation);                // on a stream's thread
  bool wait_on_host(std::uint64_t generation, int timeout_ms);  // timeout_ms < 0: for ever
  bool is_complete() const;                                     // also when never recorded

  // Nanoseconds of the last completed record; false when there is none or a later one is under way.
  bool timestamp(std::uint64_t* nanoseconds) const;

  // Stream waits submitted and done, for aclrtQueryEventWaitStatus.
  void add_wait();
  void finish_wait();
  bool all_waits_done() const;

  // External events.
  void raise();
  void lower();
  bool is_raised() const;

  // The open capture that recorded it last, and where. Guarded by Runtime::mutex; null again when that capture ends.
  std::shared_ptr<Capture> capture;
  std::size_t record_lane = 0;
  std::size_t record_node = 0;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t nanoseconds_ = 0;
  std::uint64_t waits_ = 0;
  bool raised_ = false;
};

}  // namespace hostnpu

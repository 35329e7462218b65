// SPDX-License-Identifier: Apache-2.0
// The one door through which every task reaches a stream: the queue, the graph being captured, or the group being updated.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stream.h"
#include "submit.h"

namespace hostnpu {

struct Submission {
  const char* name = "";
  TaskKind kind = TaskKind::kOther;
  Task task;
  std::function<bool()> ready;      // the task waits until it is true; null: it never waits
  bool run_when_discarded = false;  // see Work
};

// Call under Runtime::mutex.
aclError submit_locked(const std::shared_ptr<Stream>& stream, Submission submission);

// With HOSTNPU_TRACE=1: a line on stderr for a task that was put on the stream, into its capture or into its update.
void trace(const Stream& stream, const std::string& name);

}  // namespace hostnpu

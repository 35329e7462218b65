// SPDX-License-Identifier: Apache-2.0
// A stream: a FIFO of tasks and the thread that runs them. The thread starts with the first task.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "alive.h"
#include "core_limits.h"
#include "error.h"
#include "submit.h"

namespace hostnpu {

class Capture;
class Context;
class Graph;
struct TaskGroup;

// One entry of the queue.
struct Work {
  std::string name;
  Task task;
  bool run_when_discarded = false;  // an event record: others wait for it even when the stream is destroyed by force
};

// The update of a task group that a stream is collecting: the next task submitted replaces member `next`.
struct GroupUpdate {
  std::shared_ptr<TaskGroup> group;
  std::size_t next = 0;
};

class Stream : public Alive<Stream> {
 public:
  Stream(std::shared_ptr<Context> context, int id, bool is_default, bool is_persistent);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const std::shared_ptr<Context> context;
  const int id;
  const bool is_default;
  const bool is_persistent;  // created with ACL_STREAM_PERSISTENT: it can be bound to a model

  void push(Work work);

  // Waits until all that was pushed before has run. timeout_ms < 0: for ever. Returns (and clears) the failure of a task, whose
  // text becomes this thread's error message; 507046 after the timeout.
  aclError synchronize(int timeout_ms);
  bool idle() const;

  // No task is taken after this. discard: what is queued is dropped, else it is run first. Joins the thread; a thread whose task
  // does not end within `patience` is left alone (it keeps what it needs alive).
  void close(bool discard, std::optional<std::chrono::milliseconds> patience = std::nullopt);

  void set_stop_on_failure(bool stop);

  // Guarded by Runtime::mutex from here on.
  std::shared_ptr<Capture> capture;     // the capture this stream takes part in ...
  std::size_t capture_lane = 0;         // ... and which of its lanes it is
  std::optional<GroupUpdate> update;    // between aclmdlRICaptureTaskUpdateBegin and End
  bool launched_host_function = false;  // its callbacks belong to the context's thread ...
  std::uint64_t report_thread = 0;      // ... or to the user's thread of aclrtSubscribeReport (0: none)
  CoreLimits core_limits;               // of aclrtSetStreamResLimit
  std::shared_ptr<Graph> model;         // that it is bound to

 private:
  struct Queue;
  static void serve(const std::shared_ptr<Queue>& queue);

  const std::shared_ptr<Queue> queue_;  // shared with the thread
  std::thread thread_;
};

// Whether the task now running on this thread must give up its waiting: its stream is being closed by force, or the process ends.
bool waiting_is_cancelled();

// Waits on the calling (stream) thread until ready() is true; `lock` is held whenever ready() is called. Throws when cancelled.
void wait_cancellable(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, const std::function<bool()>& ready);

// The stream behind a handle (null: the default stream of the current context), which must belong to the current context.
// Call under Runtime::mutex. On failure sets the error text, naming `call`, and leaves `stream` empty.
aclError find_stream(aclrtStream handle, const char* call, std::shared_ptr<Stream>& stream);

// As above without asking whose context it is: for calls that real CANN allows from everywhere.
aclError find_any_stream(aclrtStream handle, const char* call, std::shared_ptr<Stream>& stream);

// The error of a call that no stream bound to a model may make.
aclError refuse_bound(const Stream& stream, const char* call);

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// The thread of a context on which all host functions of aclrtLaunchHostFunc run, one at a time, whatever stream or graph they
// belong to. It has no current context, as in real CANN.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace hostnpu {

class HostFunctionThread {
 public:
  HostFunctionThread();
  ~HostFunctionThread();
  HostFunctionThread(const HostFunctionThread&) = delete;
  HostFunctionThread& operator=(const HostFunctionThread&) = delete;

  // Runs the function on the thread and returns when it has returned: the calling stream stands still. Throws TaskError when it
  // takes longer than timeout_ms (0: no limit) or the stream is destroyed by force; the function may still be running then.
  void run(std::function<void()> function, unsigned timeout_ms);

  // Waits a moment for the function that runs, then lets the thread go.
  void close();

 private:
  struct Queue;
  static void serve(const std::shared_ptr<Queue>& queue);

  const std::shared_ptr<Queue> queue_;  // shared with the thread
  std::mutex start_mutex_;
  std::thread thread_;
};

}  // namespace hostnpu

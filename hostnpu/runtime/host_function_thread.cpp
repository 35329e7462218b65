// SPDX-License-Identifier: Apache-2.0
// Serves host functions one after the other; the streams that launched them wait.
#include "host_function_thread.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <string>
#include <utility>

#include "error.h"
#include "stream.h"

namespace hostnpu {
namespace {

struct Call {
  std::function<void()> function;
  bool done = false;
};

}  // namespace

struct HostFunctionThread::Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Call>> calls;
  bool closed = false;
  bool thread_ended = false;
};

HostFunctionThread::HostFunctionThread() : queue_(std::make_shared<Queue>()) {}

HostFunctionThread::~HostFunctionThread() { close(); }

void HostFunctionThread::serve(const std::shared_ptr<Queue>& queue) {
  std::unique_lock lock(queue->mutex);
  for (;;) {
    queue->changed.wait(lock, [&] { return queue->closed || !queue->calls.empty(); });
    if (queue->closed) {
      break;
    }
    const std::shared_ptr<Call> call = std::move(queue->calls.front());
    queue->calls.pop_front();
    lock.unlock();
    call->function();
    lock.lock();
    call->done = true;
    queue->changed.notify_all();
  }
  queue->thread_ended = true;
  queue->changed.notify_all();
}

void HostFunctionThread::run(std::function<void()> function, unsigned timeout_ms) {
  {
    const std::lock_guard lock(start_mutex_);
    if (!thread_.joinable()) {
      thread_ = std::thread([queue = queue_] { serve(queue); });
    }
  }
  const auto call = std::make_shared<Call>(Call{std::move(function)});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  std::unique_lock lock(queue_->mutex);
  queue_->calls.push_back(call);
  queue_->changed.notify_all();
  try {
    wait_cancellable(lock, queue_->changed, [&] {
      if (!call->done && timeout_ms != 0 && std::chrono::steady_clock::now() > deadline) {
        throw TaskError(ACL_ERROR_RT_TASK_TIMEOUT, "a host function did not return within " + std::to_string(timeout_ms) +
                                                       " ms, the limit that aclrtSetOpWaitTimeout set");
      }
      return call->done || queue_->closed;
    });
  } catch (...) {
    std::erase(queue_->calls, call);  // if it has not begun it never will: its arguments may be gone
    throw;
  }
}

void HostFunctionThread::close() {
  constexpr auto kPatience = std::chrono::seconds(2);
  const std::lock_guard start_lock(start_mutex_);
  std::unique_lock lock(queue_->mutex);
  queue_->closed = true;
  queue_->changed.notify_all();
  if (!thread_.joinable()) {
    return;
  }
  const bool own_thread = thread_.get_id() == std::this_thread::get_id();
  const bool ended = !own_thread && queue_->changed.wait_for(lock, kPatience, [&] { return queue_->thread_ended; });
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// The queue of a stream and the thread that serves it.
#include "stream.h"

#include <cstdio>
#include <utility>

#include "context.h"
#include "runtime.h"

namespace hostnpu {

struct Stream::Queue {
  int stream_id = 0;
  int device = 0;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> works;
  std::uint64_t pushed = 0;
  std::uint64_t finished = 0;
  bool closed = false;  // the thread ends when the queue is empty
  bool thread_ended = false;
  bool stop_on_failure = false;
  Failure failure;  // the first one since the last synchronisation
  std::atomic<bool> cancelled{false};
};

namespace {

thread_local const std::atomic<bool>* cancelled_flag = nullptr;

void print_failure(int stream_id, int device, const std::string& text) {
  std::fprintf(stderr, "[hostnpu] stream %d of device %d: %s\n", stream_id, device, text.c_str());
}

}  // namespace

bool waiting_is_cancelled() { return cancelled_flag != nullptr && cancelled_flag->load(std::memory_order_relaxed); }

void wait_cancellable(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                      const std::function<bool()>& ready) {
  // The one who cancels does not know which condition this thread sleeps on: so look up now and then.
  constexpr auto kLookUp = std::chrono::milliseconds(20);
  while (!ready()) {
    if (waiting_is_cancelled()) {
      throw TaskError(ACL_ERROR_RT_STREAM_ABORT, "its stream was destroyed while it waited");
    }
    changed.wait_for(lock, kLookUp);
  }
}

Stream::Stream(std::shared_ptr<Context> owner, int stream_id, bool default_stream, bool persistent)
    : context(std::move(owner)),
      id(stream_id),
      is_default(default_stream),
      is_persistent(persistent),
      queue_(std::make_shared<Queue>()) {
  queue_->stream_id = stream_id;
  queue_->device = context->device;
}

Stream::~Stream() { close(true); }

void Stream::push(Work work) {
  const std::lock_guard lock(queue_->mutex);
  if (queue_->closed) {
    return;  // its handle is gone already: only a call that raced with the destruction comes here
  }
  if (!thread_.joinable()) {
    thread_ = std::thread([queue = queue_] { serve(queue); });
  }
  queue_->works.push_back(std::move(work));
  ++queue_->pushed;
  queue_->changed.notify_all();
}

void Stream::serve(const std::shared_ptr<Queue>& queue) {
  cancelled_flag = &queue->cancelled;
  std::unique_lock lock(queue->mutex);
  for (;;) {
    queue->changed.wait(lock, [&] { return queue->closed || !queue->works.empty(); });
    if (queue->works.empty()) {
      break;
    }
    Work work = std::move(queue->works.front());
    queue->works.pop_front();
    const bool skip = queue->stop_on_failure && queue->failure.code != ACL_SUCCESS && !work.run_when_discarded;
    lock.unlock();
    Failure failure;
    if (!skip) {
      try {
        work.task();
      } catch (...) {
        failure = describe_current_exception(work.name);
      }
    }
    work.task = nullptr;  // what it owns is freed on this thread, before a synchronisation returns
    if (failure.code != ACL_SUCCESS && !queue->cancelled) {
      print_failure(queue->stream_id, queue->device, failure.text);
    }
    lock.lock();
    if (failure.code != ACL_SUCCESS && queue->failure.code == ACL_SUCCESS) {
      queue->failure = std::move(failure);
    }
    ++queue->finished;
    queue->changed.notify_all();
  }
  queue->thread_ended = true;
  queue->changed.notify_all();
}

aclError Stream::synchronize(int timeout_ms) {
  std::unique_lock lock(queue_->mutex);
  const std::uint64_t target = queue_->pushed;
  const auto done = [&] { return queue_->finished >= target; };
  if (timeout_ms < 0) {
    queue_->changed.wait(lock, done);
  } else if (!queue_->changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), done)) {
    return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                "stream " + std::to_string(id) + " did not finish within " + std::to_string(timeout_ms) + " ms");
  }
  const Failure failure = std::exchange(queue_->failure, Failure{});
  lock.unlock();
  return failure.code == ACL_SUCCESS ? ACL_SUCCESS : fail(failure.code, failure.text);
}

bool Stream::idle() const {
  const std::lock_guard lock(queue_->mutex);
  return queue_->finished >= queue_->pushed;
}

void Stream::set_stop_on_failure(bool stop) {
  const std::lock_guard lock(queue_->mutex);
  queue_->stop_on_failure = stop;
}

void Stream::close(bool discard, std::optional<std::chrono::milliseconds> patience) {
  std::deque<Work> dropped;
  std::unique_lock lock(queue_->mutex);
  queue_->closed = true;
  if (discard) {
    queue_->cancelled = true;
    std::deque<Work> kept;
    for (Work& work : queue_->works) {
      (work.run_when_discarded ? kept : dropped).push_back(std::move(work));
    }
    queue_->works = std::move(kept);
    queue_->finished += dropped.size();
  }
  queue_->changed.notify_all();
  if (!thread_.joinable()) {
    return;
  }
  const auto ended = [&] { return queue_->thread_ended; };
  // A task may drop the last reference to its own stream: a thread cannot join itself.
  const bool own_thread = thread_.get_id() == std::this_thread::get_id();
  const bool join = !own_thread && (!patience || queue_->changed.wait_for(lock, *patience, ended));
  lock.unlock();
  if (join) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

}  // namespace hostnpu

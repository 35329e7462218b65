// SPDX-License-Identifier: Apache-2.0
// The state of an event.
#include "event.h"

#include <algorithm>
#include <chrono>

#include "stream.h"

namespace hostnpu {

std::uint64_t Event::begin_record() {
  const std::lock_guard lock(mutex_);
  return ++recorded_;
}

void Event::complete(std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  completed_ = std::max(completed_, generation);
  nanoseconds_ = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
  changed_.notify_all();
}

std::uint64_t Event::recorded() const {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

void Event::wait_on_stream(std::uint64_t generation) {
  std::unique_lock lock(mutex_);
  wait_cancellable(lock, changed_, [&] { return completed_ >= generation; });
}

bool Event::wait_on_host(std::uint64_t generation, int timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return completed_ >= generation; };
  if (timeout_ms < 0) {
    changed_.wait(lock, done);
    return true;
  }
  return changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), done);
}

bool Event::is_complete() const {
  const std::lock_guard lock(mutex_);
  return completed_ >= recorded_;
}

bool Event::timestamp(std::uint64_t* nanoseconds) const {
  const std::lock_guard lock(mutex_);
  if (recorded_ == 0 || completed_ < recorded_) {
    return false;
  }
  *nanoseconds = nanoseconds_;
  return true;
}

void Event::add_wait() {
  const std::lock_guard lock(mutex_);
  ++waits_;
}

void Event::finish_wait() {
  const std::lock_guard lock(mutex_);
  --waits_;
}

bool Event::all_waits_done() const {
  const std::lock_guard lock(mutex_);
  return waits_ == 0;
}

void Event::raise() {
  const std::lock_guard lock(mutex_);
  raised_ = true;
}

void Event::lower() {
  const std::lock_guard lock(mutex_);
  raised_ = false;
}

bool Event::is_raised() const {
  const std::lock_guard lock(mutex_);
  return raised_;
}

}  // namespace hostnpu

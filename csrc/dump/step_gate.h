// SPDX-License-Identifier: Apache-2.0
// Lets tensors pass to the step at hand, and holds them back while a step ends. Whoever ends a step goes first: a std::shared_mutex may
// let those who pass starve it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace msprobe::dump {

class StepGate {
 public:
  // One tensor on its way; empty if default-made or moved from.
  class Hold {
   public:
    Hold() = default;
    explicit Hold(StepGate& gate) : gate_(&gate) { gate.enter(); }
    Hold(Hold&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(gate_, other.gate_);
      return *this;
    }
    ~Hold() {
      if (gate_ != nullptr) {
        gate_->leave();
      }
    }

   private:
    StepGate* gate_ = nullptr;
  };

  // The end of a step: nothing is on its way while it lives.
  class Closed {
   public:
    explicit Closed(StepGate& gate) : gate_(gate) { gate.close(); }
    ~Closed() { gate_.open(); }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    StepGate& gate_;
  };

 private:
  void enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !closed_; });
    ++inside_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0) {
      changed_.notify_all();
    }
  }
  void close() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !closed_; });
    closed_ = true;
    changed_.wait(lock, [&] { return inside_ == 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t inside_ = 0;
  bool closed_ = false;
};

}  // namespace msprobe::dump

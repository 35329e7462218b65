// SPDX-License-Identifier: Apache-2.0
// Errors of background threads.
#include "log/session.h"

#include <utility>

#include "base/error.h"

namespace msprobe::log {

void Session::background_error(std::string message) noexcept {
  const std::lock_guard lock(error_mutex_);
  if (error_count_++ == 0) {
    error_ = std::move(message);
  }
  has_error_.store(true, std::memory_order_release);
}

void Session::throw_background_error() {
  if (!has_error_.load(std::memory_order_acquire)) {
    return;
  }
  std::string message;
  {
    const std::lock_guard lock(error_mutex_);
    message = std::exchange(error_, {});
    if (error_count_ > 1) {
      message += " (and " + std::to_string(error_count_ - 1) + " more like it since)";
    }
    error_count_ = 0;
    has_error_.store(false, std::memory_order_release);
  }
  fail(message);
}

}  // namespace msprobe::log

// SPDX-License-Identifier: Apache-2.0
// One value for each device type, which vendors' libraries set when they are loaded.
#pragma once

#include <c10/core/DeviceType.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

namespace msprobe::device {

// Thread-safe. An instance for the process must never be destroyed: operators may run while the process is going down.
template <class Value>
class ByType {
 public:
  void set(c10::DeviceType type, Value value) {
    const std::lock_guard lock(mutex_);
    values_[static_cast<std::size_t>(type)] = std::move(value);
  }

  Value get(c10::DeviceType type) {
    const std::lock_guard lock(mutex_);
    return values_[static_cast<std::size_t>(type)];
  }

 private:
  std::mutex mutex_;
  std::array<Value, static_cast<std::size_t>(c10::DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES)> values_;
};

}  // namespace msprobe::device

// SPDX-License-Identifier: Apache-2.0
// The records of one dumper between two steps, in order of execution.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "log/record.h"

namespace msprobe::log {

// Written by whichever thread commits (a device's callback thread included), read by the thread that ends the step.
class HostLog {
 public:
  // The records of one commit stay together, whatever other threads append at the same time.
  void append(std::span<const Record> records) {
    const std::lock_guard lock(mutex_);
    records_.insert(records_.end(), records.begin(), records.end());
  }

  std::vector<Record> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(records_, {});
  }

  // After a failed write: puts taken records back in front of what has come since.
  void put_back(std::vector<Record> records) {
    const std::lock_guard lock(mutex_);
    records.insert(records.end(), records_.begin(), records_.end());
    records_ = std::move(records);
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return records_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Record> records_;
};

}  // namespace msprobe::log

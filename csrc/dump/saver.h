// SPDX-License-Identifier: Apache-2.0
// What acl_save has in a process: the queue, and the number of the next file of each path.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dump/save_target.h"

namespace msprobe::dump {

// Thread-safe.
class Saver {
 public:
  explicit Saver(SaveQueueOptions options) : queue_(options) {}

  // The process's own. A forked child gets a new one: the threads and the jobs of its parent's are not its own.
  static Saver& instance();

  // `{base}_{seq}.pt`, seq counting up from 0 for each base.
  std::string next_path(const std::string& base);

  // What acl_save asks at each execution: the next path of `base`. It finds the process's saver anew each time.
  static std::unique_ptr<SaveTarget> numbered(std::string base);

  [[nodiscard]] SaveQueue& queue() noexcept { return queue_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> next_;
  SaveQueue queue_;
};

}  // namespace msprobe::dump

// SPDX-License-Identifier: Apache-2.0
// The records of one dumper between two steps, in order of execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "log/record.h"

namespace msprobe::log {

// Which run of which forward a batch belongs to. Several devices bring their parts of one run in batches of their own.
struct RunKey {
  std::uint64_t forward = 0;  // number of the commit; 0: a batch by itself
  std::uint64_t replay = 0;   // how often that commit had run before

  bool operator==(const RunKey&) const = default;
  auto operator<=>(const RunKey&) const = default;
};

// Written by whichever thread commits (a device's callback thread included), read by the thread that ends the step.
class HostLog {
 public:
  // The records of one run stay together, whatever other threads append at the same time.
  void append(std::span<const Record> records, RunKey run = {});

  // All records; runs in the order of their first batch, the batches of one run merged by position.
  std::vector<Record> take();

  // After a failed write: puts taken records back in front of what has come since.
  void put_back(std::vector<Record> records);

  std::size_t size() const;

 private:
  struct Batch {
    RunKey run;
    std::vector<Record> records;
  };

  mutable std::mutex mutex_;
  std::vector<Batch> batches_;
};

}  // namespace msprobe::log

// SPDX-License-Identifier: Apache-2.0
// Batches of records, and how those of one run are put together.
#include "log/host_log.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace msprobe::log {

void HostLog::append(std::span<const Record> records, RunKey run) {
  if (records.empty()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  batches_.push_back({run, {records.begin(), records.end()}});
}

std::vector<Record> HostLog::take() {
  std::vector<Batch> batches;
  {
    const std::lock_guard lock(mutex_);
    batches = std::exchange(batches_, {});
  }
  std::map<RunKey, Batch*> first_of_run;
  std::set<Batch*> merged;  // of several batches
  for (Batch& batch : batches) {
    if (batch.run.forward == 0) {
      continue;
    }
    const auto [place, is_first] = first_of_run.try_emplace(batch.run, &batch);
    if (!is_first) {
      std::vector<Record>& whole = place->second->records;
      whole.insert(whole.end(), batch.records.begin(), batch.records.end());
      merged.insert(place->second);
      batch.records.clear();
    }
  }
  for (Batch* batch : merged) {
    std::stable_sort(batch->records.begin(), batch->records.end(),
                     [](const Record& left, const Record& right) { return left.position < right.position; });
  }
  std::vector<Record> all;
  for (const Batch& batch : batches) {
    all.insert(all.end(), batch.records.begin(), batch.records.end());
  }
  return all;
}

void HostLog::put_back(std::vector<Record> records) {
  const std::lock_guard lock(mutex_);
  batches_.insert(batches_.begin(), Batch{{}, std::move(records)});
}

std::size_t HostLog::size() const {
  const std::lock_guard lock(mutex_);
  std::size_t total = 0;
  for (const Batch& batch : batches_) {
    total += batch.records.size();
  }
  return total;
}

}  // namespace msprobe::log

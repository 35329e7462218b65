// SPDX-License-Identifier: Apache-2.0
// Names, counts and records what the tensor task saves.
#include "dump/tensor_log.h"

#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "base/error.h"
#include "format/fields.h"
#include "stats/stats.h"

namespace msprobe::dump {
namespace {

stats::Stats statistics_of(const SaveJob& job) {
  std::vector<std::int64_t> strides(job.sizes.size(), 1);
  for (std::size_t i = job.sizes.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * job.sizes[i];
  }
  return stats::compute({job.data.get(), job.dtype, job.sizes, strides});
}

std::string tensor_folder(const std::string& folder) {
  std::string path = folder;
  return path.append("/").append(field::kTensorFolder);
}

}  // namespace

// One place of the program. Its executions are counted here: each runs on one thread at a time.
class TensorTarget final : public SaveTarget {
 public:
  TensorTarget(std::shared_ptr<TensorLog> owner, log::Record record, const log::Lanes::Place& place, bool captured)
      : owner_(std::move(owner)), record_(record), place_(place), captured_(captured) {}
  ~TensorTarget() override {
    if (captured_) {
      owner_->target_gone(place_.forward);
    }
  }

  [[nodiscard]] bool wanted() const override { return place_.recording && !owner_->session_->closed(); }

  std::optional<SaveTicket> begin() override {
    log::Record record = record_;
    record.replay = captured_ ? executions_++ : 0;
    StepGate::Hold hold(owner_->gate_);
    const bool recording = captured_ ? owner_->records_replay(place_.forward, record.replay) : place_.recording;
    if (!recording || owner_->session_->closed()) {
      return std::nullopt;
    }
    return SaveTicket{owner_->job_for(record, {place_.forward, record.replay}), std::move(hold)};
  }

 private:
  const std::shared_ptr<TensorLog> owner_;
  const log::Record record_;
  const log::Lanes::Place place_;
  const bool captured_;
  std::uint64_t executions_ = 0;
};

void TensorLog::set_folder(std::string folder) {
  const std::lock_guard lock(mutex_);
  folder_ = std::move(folder);
}

std::unique_ptr<SaveTarget> TensorLog::target(const log::Record& record, const log::Lanes::Place& place, bool captured) {
  if (captured) {
    const std::lock_guard lock(mutex_);
    const auto [forward, is_new] = executions_.try_emplace(place.forward);
    forward->second.graph = is_new ? session_->graphs.add(0) : forward->second.graph;
    session_->graphs.add_site(forward->second.graph);
    ++forward->second.targets;
  }
  return std::make_unique<TensorTarget>(shared_from_this(), record, place, captured);
}

void TensorLog::keep(const log::Record& record, const log::Lanes::Place& place) {
  if (place.recording && !session_->closed()) {
    const StepGate::Hold hold(gate_);
    const std::lock_guard lock(mutex_);
    open_slot(record, {place.forward, 0});
  }
}

void TensorLog::target_gone(std::uint64_t forward) {
  const std::lock_guard lock(mutex_);
  const auto execution = executions_.find(forward);
  if (--execution->second.targets == 0) {
    session_->graphs.ended(execution->second.graph);
    executions_.erase(execution);
  }
}

// A replay is recorded as a whole or not at all, whatever is switched meanwhile.
bool TensorLog::records_replay(std::uint64_t forward, std::uint64_t replay) {
  const std::lock_guard lock(mutex_);
  Execution& newest = executions_.at(forward);
  if (!newest.any || newest.replay != replay) {
    newest.replay = replay;
    newest.recording = session_->lanes.recording();
    newest.any = true;
    session_->graphs.replayed(newest.graph);
  }
  return newest.recording;
}

// With mutex_ held.
std::size_t TensorLog::open_slot(log::Record record, log::RunKey run) {
  record.call_index = calls_[calls_.add(record, session_->tags[record.tag])].index;
  slots_.push_back({record, run});
  return slots_.size() - 1;
}

SaveJob TensorLog::job_for(const log::Record& record, log::RunKey run) {
  const std::lock_guard lock(mutex_);
  const std::size_t slot = open_slot(record, run);
  SaveJob job;
  job.path = tensor_folder(folder_) + "/" + names.of(session_->tags[record.tag], slots_[slot].record.call_index).name;
  job.make_folders = true;
  job.done = [self = shared_from_this(), slot](const SaveJob& finished, std::string_view error) {
    self->finish(slot, finished, error);
  };
  return job;
}

// On a writer thread, or where the tensor could not be copied (then there are no values).
void TensorLog::finish(std::size_t slot, const SaveJob& job, std::string_view error) {
  const stats::Stats stats = job.data == nullptr ? stats::Stats{} : statistics_of(job);
  const std::lock_guard lock(mutex_);
  log::Record& record = slots_[slot].record;
  record.stats = stats;
  record.has_counts = stats.count > 0;
  record.in_file = error.empty();
  if (!error.empty()) {
    session_->count_dropped(1);
    record.note = session_->notes.intern(std::string(error));
  }
}

// Runs in the order in which they ended, as in the statistics task: a graph that was replayed inside an eager forward stands before it.
void TensorLog::collect() {
  const std::lock_guard lock(mutex_);
  std::map<log::RunKey, std::size_t> last;  // slot of each run
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    last[slots_[i].run] = i;
  }
  std::map<std::size_t, std::vector<log::Record>> records;  // of a run, by its last slot
  for (const Slot& slot : slots_) {
    records[last[slot.run]].push_back(slot.record);
  }
  for (const auto& [end, of_run] : records) {
    session_->host_log.append(of_run, slots_[end].run);
  }
  slots_.clear();
}

void TensorLog::end_step(std::string next_folder) {
  const std::lock_guard lock(mutex_);
  calls_.clear();
  folder_ = std::move(next_folder);
}

void TensorLog::remove_step(std::span<const log::Record> records) {
  const std::lock_guard lock(mutex_);
  calls_.clear();
  const std::string folder = tensor_folder(folder_);
  for (const log::Record& record : records) {
    const std::string path = folder + "/" + names.of(session_->tags[record.tag], record.call_index).name;
    if (record.in_file && unlink(path.c_str()) != 0 && errno != ENOENT) {
      fail_file("remove", path, errno);
    }
  }
  // Others may have files there.
  static_cast<void>(rmdir(folder.c_str()));
  static_cast<void>(rmdir(folder_.c_str()));
}

}  // namespace msprobe::dump

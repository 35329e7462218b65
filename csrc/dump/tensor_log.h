// SPDX-License-Identifier: Apache-2.0
// The tensor task: each tensor goes straight to its file in the folder of the step at hand, and leaves a record for dump.json.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dump/calls.h"
#include "dump/file_names.h"
#include "dump/save_target.h"
#include "dump/step_gate.h"
#include "log/session.h"

namespace msprobe::dump {

// Thread-safe. Shared by the dumper and by the targets in captured graphs.
class TensorLog : public std::enable_shared_from_this<TensorLog> {
 public:
  explicit TensorLog(std::shared_ptr<log::Session> session) : session_(std::move(session)) {}

  // The folder of dump.json, for what is saved from here on.
  void set_folder(std::string folder);

  // For a tensor that an operator has come to: `place` is where, `record` what is known of it without its values.
  std::unique_ptr<SaveTarget> target(const log::Record& record, const log::Lanes::Place& place, bool captured);
  // A tensor that cannot be saved: leaves its record, whose note says why.
  void keep(const log::Record& record, const log::Lanes::Place& place);

  // The end of a step. While a Pause lives nothing new is saved; whoever comes waits. What was begun is on disk, or has failed.
  class Pause {
   public:
    explicit Pause(TensorLog& log) : closed_(log.gate_) {}

   private:
    StepGate::Closed closed_;
  };
  // All in a Pause. Brings the records to the session's host log.
  void collect();
  // The step was written: what comes is saved in `next_folder`, and calls are counted from 0 again.
  void end_step(std::string next_folder);
  // The step is thrown away: removes the files of its records, and its folders where nothing else is in them.
  void remove_step(std::span<const log::Record> records);

  FileNames names;

 private:
  friend class TensorTarget;
  struct Slot {
    log::Record record;
    log::RunKey run;
  };
  struct Execution {
    std::uint64_t replay = 0;
    bool recording = false;
    bool any = false;  // has been replayed
    log::GraphId graph = 0;
    std::uint64_t targets = 0;  // that live
  };

  void target_gone(std::uint64_t forward);
  bool records_replay(std::uint64_t forward, std::uint64_t replay);
  std::size_t open_slot(log::Record record, log::RunKey run);
  SaveJob job_for(const log::Record& record, log::RunKey run);
  void finish(std::size_t slot, const SaveJob& job, std::string_view error);

  std::shared_ptr<log::Session> session_;
  StepGate gate_;
  std::mutex mutex_;  // guards what follows
  std::string folder_;
  Calls calls_;
  std::deque<Slot> slots_;                                   // of this step, in order of arrival
  std::unordered_map<std::uint64_t, Execution> executions_;  // of captured forwards, by their number: the newest
};

}  // namespace msprobe::dump

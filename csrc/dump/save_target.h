// SPDX-License-Identifier: Apache-2.0
// Where the values of one place in a program go, asked at each of its executions.
#pragma once

#include <optional>

#include "dump/save_queue.h"
#include "dump/step_gate.h"

namespace msprobe::dump {

// One execution: a job without its values yet.
struct SaveTicket {
  SaveJob job;
  StepGate::Hold hold;  // until the job is pushed or failed: its step does not end before that
};

// Called on whichever thread runs the place: a device's callback thread at a replay.
class SaveTarget {
 public:
  SaveTarget() = default;
  SaveTarget(const SaveTarget&) = delete;
  SaveTarget& operator=(const SaveTarget&) = delete;
  virtual ~SaveTarget() = default;

  // Whether an eager execution saves anything. (A captured one is asked at each replay, by begin().)
  [[nodiscard]] virtual bool wanted() const = 0;
  // Nothing if this execution is not to be saved.
  virtual std::optional<SaveTicket> begin() = 0;
};

}  // namespace msprobe::dump

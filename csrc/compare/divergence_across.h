// SPDX-License-Identifier: Apache-2.0
// Verdicts side by side: which rank parted first in a step, and how a rank's steps grow apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/divergence.h"

namespace msprobe::compare::divergence {

// A verdict with the name of what it is of: "rank 3", "pid 77", "step 2".
struct Named {
  std::string name;
  const Verdict* verdict = nullptr;
};

// Ranks wait for each other in collectives: who parted after fewer of them parted first. A rank whose first difference came out of
// a collective, or came in from outside, got it from another one. What lies between the same two collectives has no order that a
// dump could tell.
struct AcrossRanks {
  struct Rank {
    std::string name;
    std::string call;  // where it parted; "" if nowhere
    Grade grade = Grade::kNone;
    std::int64_t collectives = 0;  // that ended before
    bool received = false;         // it came through a collective or from outside
  };
  std::vector<Rank> ranks;         // as given
  std::vector<std::size_t> first;  // indices of those that parted first; several if no collective lies between
  std::string shared_collective;   // the last one that all had passed before; "" if there was none
  bool any_collective = false;     // without one, places in the walk are compared
};

AcrossRanks across_ranks(std::span<const Named> ranks);

// The steps of one rank.
struct AcrossSteps {
  struct Step {
    std::string name;
    std::string call;
    Grade grade = Grade::kNone;
    double largest = 0;  // the largest finite relative error of an output
    std::string largest_at;
  };
  std::vector<Step> steps;           // as given: in order
  std::optional<std::size_t> first;  // the first with a fault or suspect
  std::optional<double> growth;      // of the largest error from step to step, the geometric mean; with two steps above zero
};

AcrossSteps across_steps(std::span<const Named> steps);

}  // namespace msprobe::compare::divergence

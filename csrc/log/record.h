// SPDX-License-Identifier: Apache-2.0
// One tensor, seen once: what a statistics operator leaves in the host log.
#pragma once

#include <cstdint>

#include "format/dtype.h"
#include "log/lanes.h"
#include "log/tag.h"
#include "stats/stats.h"

namespace msprobe::log {

using ShapeId = std::uint32_t;
using NoteId = std::uint32_t;
inline constexpr NoteId kNoNote = 0;
inline constexpr std::int64_t kCountLater = -1;  // when the step is written

struct Record {
  TagId tag = 0;
  ShapeId shape = 0;
  NoteId note = kNoNote;
  DType dtype = DType::kUnknown;
  CallId call = 0;                        // with `replay`: which call, of all executions
  std::uint64_t replay = 0;               // of the graph in which the call was captured; 0 for eager calls
  std::int64_t call_index = kCountLater;  // calls of the name in this step before it
  std::uint64_t position = 0;             // in the order of the operators' calls; those of one forward are put in order by it
  bool in_file = false;                   // the values were saved, under the name that dump::FileNames gives
  bool has_counts = false;                // nan, pos_inf, neg_inf and zero of `stats` were counted (not on every device)
  stats::Stats stats;  // count == 0: an empty tensor, or one whose numbers could not be taken; all numbers are null
};

}  // namespace msprobe::log

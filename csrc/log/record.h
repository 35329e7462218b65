// SPDX-License-Identifier: Apache-2.0
// One tensor, seen once: what a statistics operator leaves in the host log.
#pragma once

#include <cstdint>

#include "format/dtype.h"
#include "log/tag.h"
#include "stats/stats.h"

namespace msprobe::log {

using ShapeId = std::uint32_t;
using NoteId = std::uint32_t;
inline constexpr NoteId kNoNote = 0;

struct Record {
  TagId tag = 0;
  ShapeId shape = 0;
  NoteId note = kNoNote;
  DType dtype = DType::kUnknown;
  std::uint64_t position = 0;  // in the order of the operators' calls; those of one forward are put in order by it
  bool has_counts = false;     // nan, pos_inf, neg_inf and zero of `stats` were counted (not on every device)
  stats::Stats stats;          // count == 0: an empty tensor, or one whose numbers could not be taken; all numbers are null
};

}  // namespace msprobe::log

// SPDX-License-Identifier: Apache-2.0
// What a comparison found, as people read it first: on the terminal.
#pragma once

#include <cstddef>
#include <string>

#include "compare/run.h"

namespace msprobe::report {

struct SummaryStyle {
  std::size_t width = 100;  // of tables and of wrapped text; at least 60
  bool colours = false;     // ANSI
};

// Lines with their ends: counts by result, where each rank parts, the worst rows, what has no partner, the files, the time.
std::string summary_text(const compare::Summary& summary, const SummaryStyle& style);

// "step 3 rank7: ", as far as the comparison has steps and ranks; "" for two files.
std::string pair_title(const compare::PairSummary& pair, const compare::Summary& summary);

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// The options of `msprobe compare`, for the program and for msprobe.compare() alike.
#pragma once

#include <set>

#include "cli/words.h"
#include "compare/run.h"
#include "compare/table.h"

namespace msprobe::cli {

struct CompareCommand {
  compare::Options options;
  std::set<compare::Result> fail_on;  // exit code 1 if there are rows of one of these
  bool quiet = false;
};

// Throws Error, with the name of the option, for words that are none or have no such value.
CompareCommand parse_compare(const Words& words);

}  // namespace msprobe::cli

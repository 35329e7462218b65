// SPDX-License-Identifier: Apache-2.0
// The options of `msprobe view`, for the program and for msprobe.view() alike.
#pragma once

#include <set>

#include "cli/words.h"
#include "report/view_page.h"

namespace msprobe::cli {

// What lets the program end with 1.
enum class ViewFailure : std::uint8_t {
  kNotFinite,  // NaN or Inf in a tensor
  kBroken,     // an entry that is no record
  kSign,       // outputs that stand out
};

struct ViewCommand {
  report::ViewOptions options;
  std::set<ViewFailure> fail_on;
  bool quiet = false;
};

// Throws Error, with the name of the option, for words that are none or have no such value.
ViewCommand parse_view(const Words& words);

}  // namespace msprobe::cli

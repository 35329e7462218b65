// SPDX-License-Identifier: Apache-2.0
// One run's dumps as an HTML page: what is in them, and what stands out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/run.h"
#include "read/layout.h"

namespace msprobe::report {

// How the file is called: kViewPrefix, the timestamp, ".html".
inline constexpr std::string_view kViewPrefix = "view_";

struct ViewOptions {
  std::string dump;                 // a dump.json, a folder with one, or folders of ranks and steps
  std::string output = "./output";  // folder; made with its parents
  read::NumberRanges ranks;         // empty: all
  read::NumberRanges steps;
  int threads = 0;  // 0: as many as the machine has
};

// What was found in one dump.
struct ViewedDump {
  std::string title;  // "step 2 rank3"; "" for one file
  std::uint64_t rows = 0;
  std::vector<std::string> sentences;  // where NaN or Inf first appears, then what else stands out
  std::string error;                   // why it could not be read; then all else is empty
};

struct ViewReport {
  std::vector<ViewedDump> dumps;  // by step, then by rank
  std::string file;
};

// Throws Error for bad options and input, FileError for the system's refusals. Of several dumps one that cannot be read does not stop the
// others. `progress` may be null.
ViewReport write_view(const ViewOptions& options, compare::Progress* progress = nullptr);

}  // namespace msprobe::report

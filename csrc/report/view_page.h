// SPDX-License-Identifier: Apache-2.0
// One run's dumps as an HTML page: what is in them, and what stands out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/run.h"
#include "read/layout.h"
#include "report/dump_signs.h"

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
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> rank;
  std::string label;  // "rank3", "pid17", ...; "" for one file
  std::string path;   // of its dump.json
  std::uint64_t rows = 0;
  std::uint64_t broken = 0;                       // of these, entries that are no records
  std::array<std::uint64_t, kSignKinds> signs{};  // rows by sign
  std::string first_not_finite;                   // name of the row where NaN or Inf first appears; "" if nowhere
  bool inputs_had_it = false;                     // it is an input, or stands in a call with such an input
  std::vector<std::string> sentences;             // where NaN or Inf first appears, then what else stands out
  std::string error;                              // why it could not be read; then all else is empty
};

struct ViewReport {
  std::vector<ViewedDump> dumps;  // by step, then by rank
  std::string file;
};

// Throws Error for bad options and input, FileError for the system's refusals. Of several dumps one that cannot be read does not stop the
// others. `progress` may be null.
ViewReport write_view(const ViewOptions& options, compare::Progress* progress = nullptr);

// "step 2 rank3"; "" where there is one dump alone.
std::string title_of(const ViewedDump& dump, const ViewReport& report);

// All of it as one JSON object.
std::string view_json(const ViewReport& report);

}  // namespace msprobe::report

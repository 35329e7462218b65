// SPDX-License-Identifier: Apache-2.0
// A whole comparison: finds the dumps, pairs, compares, writes, and says in short what was found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/divergence.h"
#include "compare/divergence_across.h"
#include "compare/table.h"
#include "compare/tensor_metrics.h"
#include "read/layout.h"

namespace msprobe::compare {

// How the files of a comparison are called: kResultPrefix, step{N}_ if there are several steps, {label}_, the timestamp.
inline constexpr std::string_view kResultPrefix = "compare_result_";
std::string local_timestamp();  // YYYYMMDDhhmmss, of now

using WriterFactory = std::function<std::unique_ptr<TableWriter>(const TableInfo& info, const std::string& path)>;

// One format of table; each pair of dumps gets one file of each.
struct OutputFormat {
  std::string extension;  // with its point: ".csv"
  WriterFactory make;
};

struct Summary;

// A file that holds the tables of all pairs of dumps, and what was found across them.
class WholeWriter {
 public:
  WholeWriter() = default;
  WholeWriter(const WholeWriter&) = delete;
  WholeWriter& operator=(const WholeWriter&) = delete;
  virtual ~WholeWriter() = default;

  virtual std::unique_ptr<TableWriter> table(const TableInfo& info) = 0;  // any thread; one a pair, finished before finish()
  virtual std::string finish(const Summary& summary) = 0;                 // as TableWriter's; `seconds` is the time so far
};

// One format of such a file; a comparison gets one of each.
struct WholeFormat {
  std::string extension;
  std::function<std::unique_ptr<WholeWriter>(const std::string& path)> make;
};

struct Options {
  std::string target;
  std::string golden;
  std::string output = "./output";  // folder; made with its parents
  std::vector<OutputFormat> formats;
  std::vector<WholeFormat> whole_formats;
  bool fuzzy = false;         // names match if they are equal but for the number of the call
  std::string data_map;       // path of a YAML map of row names; "": none
  bool cell_mapping = false;  // Cell and Module are the same
  std::string cell_map;       // path of a YAML map of parts of names; "": none
  bool diff_analyze = false;  // write what was found as JSON as well
  bool hints = false;         // name weak signs of a divergence too
  read::NumberRanges ranks;   // empty: all
  read::NumberRanges steps;
  Tolerance tolerance;    // of tensor mode
  int threads = 0;        // 0: as many as the machine has
  std::string timestamp;  // of file names: YYYYMMDDhhmmss; "": the local time at the start
};

// Told from time to time by one thread at a time, not always the same one.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;
  virtual void update(double share, std::string_view what) = 0;  // share of the whole, 0 to 1; what: "rank 3: reading"
};

// Rows by result; indexed by Result.
using ResultCounts = std::array<std::uint64_t, 4>;

// One of the rows that a reader should look at first.
struct WorstRow {
  std::optional<std::int64_t> step;
  std::string label;        // "rank3", "pid17"; "" where there is one pair alone
  std::uint64_t row = 0;    // in its table, from 0, without the header
  std::string target_name;  // "N/A" for a row of golden alone
  std::string golden_name;
  Result result = Result::kPass;
  double relative_error =
      0;  // the largest of the four, as a fraction; infinite where there is no scale; of tensor mode MaxRelativeErr
  std::vector<std::string> messages;  // of Err_message
  bool by_chance = false;             // chance.h
};

// What came out of one pair of dumps.
struct PairSummary {
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> rank;
  std::string label;  // "rank3", "pid17", "rank"; "" for two files
  std::string target_path;
  std::string golden_path;
  Mode mode = Mode::kStatistics;
  ResultCounts counts{};
  std::uint64_t rows_matched = 0;
  std::uint64_t fuzzy_matches = 0;    // rows of different names
  double largest_relative_error = 0;  // the largest finite one of all matched rows and statistics, as a fraction
  std::string largest_relative_error_at;
  std::vector<std::string> files;                 // that were written
  std::vector<std::string> warnings;              // one line each
  std::optional<divergence::Verdict> divergence;  // not in md5 mode
  std::string error;                              // why this pair could not be compared at all; then all else is empty
};

// Which rank parted first within a step.
struct RankOrder {
  std::optional<std::int64_t> step;
  divergence::AcrossRanks found;
  std::string label;     // of the ranks that parted first: "rank3, rank5"; "" if none did
  std::string sentence;  // the same in words; "" if there is nothing to tell
};

// One step, all its ranks together.
struct StepGrowth {
  std::int64_t step = 0;
  double largest_relative_error = 0;  // of a matched row's norm, as a fraction
  bool diverged = false;
};

struct Summary {
  ResultCounts counts{};
  std::vector<PairSummary> pairs;  // by step, then by rank
  std::vector<read::Unpaired> unpaired;
  std::vector<WorstRow> worst;    // ten at most, the worst first
  std::vector<RankOrder> ranks;   // one a step with several ranks
  std::vector<StepGrowth> steps;  // only if there are several
  std::optional<std::int64_t> first_diverging_step;
  std::vector<std::string> files;  // all that were written
  double seconds = 0;
};

// Throws Error for bad options and input, FileError for the system's refusals; then a table is either complete or not there. A pair
// that cannot be read among several does not stop the others: its PairSummary says why. `progress` may be null.
Summary run(const Options& options, Progress* progress = nullptr);

}  // namespace msprobe::compare

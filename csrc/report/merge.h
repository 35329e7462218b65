// SPDX-License-Identifier: Apache-2.0
// Puts chosen rows of the comparisons of all ranks side by side in a workbook.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace msprobe::report {

struct MergeOptions {
  std::string input;      // folder with compare_result_rank{N}_{time}.csv or .xlsx, or with step{N}_ before rank
  std::string output;     // folder; made with its parents
  std::string config;     // path of a YAML file: lists `api` and `compare_index`
  std::string timestamp;  // of file names: YYYYMMDDhhmmss
};

struct MergeReport {
  std::size_t ranks = 0;  // files that were read
  std::size_t rows = 0;   // of each sheet, over all workbooks
  std::vector<std::string> files;
  std::vector<std::string> notes;  // what was left out, and why; one line each
};

// One workbook a step: multi_ranks_compare_merge_{time}.xlsx, with step{N}_ before the time where the inputs have steps; a sheet an
// index, a column a rank, rows sorted by name. Equal numbers are equal cells, whatever else stands in a rank's file: numbers are number
// cells, percentages too. A rank that lacks the row has an empty cell; for a word (N/A, unsupported, Nan) the two maxima stand there.
// Throws Error for fewer than two ranks, columns that are not there, rows that no api chooses, and damaged files.
MergeReport merge_results(const MergeOptions& options);

}  // namespace msprobe::report

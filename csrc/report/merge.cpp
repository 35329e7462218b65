// SPDX-License-Identifier: Apache-2.0
// Reads each rank's chosen rows, joins them by name, writes the sheets.
#include "report/merge.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "compare/columns.h"
#include "read/yaml_lists.h"
#include "report/merge_inputs.h"
#include "report/table_reader.h"
#include "report/workbook.h"

namespace msprobe::report {
namespace {

using compare::ColumnId;

constexpr std::string_view kApi = "api";
constexpr std::string_view kIndex = "compare_index";
constexpr double kNameWidth = 60;
constexpr double kValueWidth = 18;

// What is merged when the configuration does not say: as far as the tables have it.
constexpr std::array kDefaultColumns = {ColumnId::kMaxDiff,       ColumnId::kMinDiff,         ColumnId::kMeanDiff,
                                        ColumnId::kNormDiff,      ColumnId::kMaxRelative,     ColumnId::kMinRelative,
                                        ColumnId::kMeanRelative,  ColumnId::kNormRelative,    ColumnId::kCosine,
                                        ColumnId::kEuclidean,     ColumnId::kMaxAbs,          ColumnId::kMaxRelativeOfTensor,
                                        ColumnId::kOneThousandth, ColumnId::kFiveThousandths, ColumnId::kGradConsistent};

struct MergeConfig {
  std::vector<std::string> apis;  // each with the point behind it
  std::vector<std::string> columns;
};

// A row's name, and which of several rows of that name it is.
using RowKey = std::pair<std::string, std::size_t>;

struct RankTable {
  std::vector<std::string> head;
  std::map<RowKey, std::vector<TableCell>> rows;  // of the chosen columns, in their order
};

std::string name_of(ColumnId id) { return std::string(compare::column(id).name); }

MergeConfig read_config(const std::string& path) {
  const read::YamlLists lists = read::read_yaml_lists(path, {kApi, kIndex});
  MergeConfig config;
  if (const auto apis = lists.find(std::string(kApi)); apis != lists.end()) {
    for (const std::string& api : apis->second) {
      config.apis.push_back(api + ".");
    }
  }
  if (config.apis.empty()) {
    fail("'", path, "' must have a list '", kApi, "' of parts of names, such as Distributed.all_reduce, and has none");
  }
  if (const auto columns = lists.find(std::string(kIndex)); columns != lists.end()) {
    std::set<std::string> seen;
    std::copy_if(columns->second.begin(), columns->second.end(), std::back_inserter(config.columns),
                 [&](const std::string& name) { return seen.insert(name).second; });
  }
  return config;
}

std::size_t find_column(const std::vector<std::string>& head, const std::string& name, const std::string& path) {
  const auto found = std::find(head.begin(), head.end(), name);
  if (found == head.end()) {
    std::string valid;
    for (const std::string& column : head) {
      valid += (valid.empty() ? "" : ", ") + column;
    }
    fail("'", path, "' has no column '", name, "'; its columns are ", valid);
  }
  return static_cast<std::size_t>(found - head.begin());
}

// The columns of a table that are merged.
std::vector<std::string> chosen_columns(const MergeConfig& config, const std::vector<std::string>& head,
                                        const std::string& path) {
  const std::string target_md5 = name_of(ColumnId::kTargetMd5);
  if (std::find(head.begin(), head.end(), target_md5) != head.end()) {
    fail("'", path, "' compares checksums, which cannot be merged: there are no numbers in it");
  }
  if (!config.columns.empty()) {
    return config.columns;
  }
  std::vector<std::string> columns;
  std::set<std::string> seen;  // MaxRelativeErr is a column of statistics and of tensors
  for (const ColumnId id : kDefaultColumns) {
    const std::string name = name_of(id);
    if (std::find(head.begin(), head.end(), name) != head.end() && seen.insert(name).second) {
      columns.push_back(name);
    }
  }
  if (columns.empty()) {
    fail("'", path, "' is no comparison: it has none of the columns of one");
  }
  return columns;
}

std::string text_of(const std::vector<TableCell>& row, std::size_t column) {
  return column < row.size() ? row[column].text : std::string();
}

class RankReader {
 public:
  RankReader(const MergeConfig& config, const std::string& path) : config_(config), path_(path) {}

  RankTable read() {
    const RowTaker take = [this](const std::vector<TableCell>& row) {
      if (table_.head.empty()) {
        take_head(row);
      } else {
        take_row(row);
      }
    };
    if (path_.ends_with(".csv")) {
      read_csv(path_, take);
    } else {
      read_xlsx(path_, take);
    }
    if (table_.head.empty()) {
      fail("'", path_, "' is empty: not even a head stands in it");
    }
    return std::move(table_);
  }

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

 private:
  void take_head(const std::vector<TableCell>& row) {
    for (const TableCell& cell : row) {
      table_.head.push_back(cell.text);
    }
    name_ = find_column(table_.head, name_of(ColumnId::kTargetName), path_);
    columns_ = chosen_columns(config_, table_.head, path_);
    target_max_ = find_column(table_.head, name_of(ColumnId::kTargetMax), path_);
    golden_max_ = find_column(table_.head, name_of(ColumnId::kGoldenMax), path_);
    for (const std::string& column : columns_) {
      places_.push_back(find_column(table_.head, column, path_));
    }
  }

  void take_row(const std::vector<TableCell>& row) {
    const std::string name = text_of(row, name_);
    const bool chosen = std::any_of(config_.apis.begin(), config_.apis.end(),
                                    [&](const std::string& api) { return name.find(api) != std::string::npos; });
    if (!chosen) {
      return;
    }
    std::vector<TableCell> cells;
    for (const std::size_t place : places_) {
      TableCell& cell = cells.emplace_back(place < row.size() ? row[place] : TableCell());
      if (cell.kind == TableCell::Kind::kText && (cell.text == "N/A" || cell.text == "unsupported" || cell.text == "Nan")) {
        cell.text = "NPU:" + text_of(row, target_max_) + "  Bench:" + text_of(row, golden_max_);
      }
    }
    table_.rows.emplace(RowKey(name, occurrences_[name]++), std::move(cells));
  }

  const MergeConfig& config_;
  const std::string& path_;
  RankTable table_;
  std::map<std::string, std::size_t> occurrences_;
  std::vector<std::string> columns_;
  std::vector<std::size_t> places_;
  std::size_t name_ = 0;
  std::size_t target_max_ = 0;
  std::size_t golden_max_ = 0;
};

void write_cell(Workbook& workbook, std::size_t column, const TableCell& cell) {
  switch (cell.kind) {
    case TableCell::Kind::kEmpty:
      break;
    case TableCell::Kind::kText:
      workbook.write_text(column, cell.text, Fill::kNone);
      break;
    case TableCell::Kind::kNumber:
      workbook.write_number(column, cell.number, Fill::kNone);
      break;
    case TableCell::Kind::kFraction:
      workbook.write_fraction(column, cell.number, Fill::kNone);
      break;
  }
}

// All ranks of one step.
struct StepTables {
  std::vector<std::string> columns;
  std::map<std::int64_t, RankTable> ranks;
  std::set<RowKey> rows;
};

StepTables read_step(const MergeConfig& config, const RankFiles& files) {
  StepTables step;
  std::string first_path;
  for (const auto& [rank, path] : files) {
    RankReader reader(config, path);
    RankTable table = reader.read();
    if (step.ranks.empty()) {
      step.columns = reader.columns();
      first_path = path;
    } else if (reader.columns() != step.columns) {
      fail("'", path, "' has other columns than '", first_path,
           "': one compares statistics and the other tensors; merge them apart");
    }
    for (const auto& [key, cells] : table.rows) {
      step.rows.insert(key);
    }
    step.ranks.emplace(rank, std::move(table));
  }
  return step;
}

std::string write_step(const StepTables& step, const std::string& path) {
  Workbook workbook(path);
  std::vector<std::string> head = {name_of(ColumnId::kTargetName)};
  std::vector<double> widths = {kNameWidth};
  for (const auto& [rank, table] : step.ranks) {
    head.push_back("rank" + std::to_string(rank));
    widths.push_back(kValueWidth);
  }
  for (std::size_t index = 0; index < step.columns.size(); ++index) {
    workbook.begin_sheet(step.columns[index], head, widths);
    for (const RowKey& key : step.rows) {
      workbook.write_text(0, key.first, Fill::kNone);
      std::size_t column = 1;
      for (const auto& [rank, table] : step.ranks) {
        const auto row = table.rows.find(key);
        if (row != table.rows.end()) {
          write_cell(workbook, column, row->second[index]);
        }
        ++column;
      }
      workbook.end_row();
    }
  }
  return workbook.finish();
}

}  // namespace

MergeReport merge_results(const MergeOptions& options) {
  const MergeConfig config = read_config(options.config);
  MergeReport report;
  const MergeInputs inputs = find_merge_inputs(options.input, report.notes);
  std::size_t most_ranks = 0;
  for (const auto& [step, files] : inputs) {
    most_ranks = std::max(most_ranks, files.size());
  }
  if (most_ranks < 2) {
    fail("'", options.input, "' must hold results of two ranks or more, compare_result_rank{N}_{time}.csv or .xlsx, and holds ",
         most_ranks == 0 ? "none" : "those of one");
  }

  create_folders(options.output);
  for (const auto& [step, files] : inputs) {
    const std::string title = step ? "step" + std::to_string(*step) + "_" : "";
    if (files.size() < 2) {
      report.notes.push_back("'" + files.begin()->second + "' is left out: it is the only rank of its step");
      continue;
    }
    const StepTables tables = read_step(config, files);
    if (tables.rows.empty()) {
      report.notes.push_back((step ? "step " + std::to_string(*step) + ": " : "") +
                             std::string("no row's name has one of the parts that '") + options.config + "' lists under api");
      continue;
    }
    if (tables.rows.size() >= kSheetRows) {
      fail("a sheet has at most ", kSheetRows, " rows, and '", options.config, "' chooses ", tables.rows.size(),
           "; list narrower parts of names under api");
    }
    report.files.push_back(
        write_step(tables, options.output + "/multi_ranks_compare_merge_" + title + options.timestamp + ".xlsx"));
    report.ranks += files.size();
    report.rows += tables.rows.size();
  }
  if (report.files.empty()) {
    fail(report.notes.back(), "; nothing was written");
  }
  return report;
}

}  // namespace msprobe::report

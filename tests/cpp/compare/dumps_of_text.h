// SPDX-License-Identifier: Apache-2.0
// Dumps written as text in a test, compared in memory, their table as texts by column.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/block.h"
#include "compare/match.h"
#include "read/dump_reader.h"

namespace msprobe::compare {

using TextRow = std::map<std::string, std::string, std::less<>>;
using TextTable = std::vector<TextRow>;

// {"task": ..., "data": {entries}}
inline std::string dump_text(std::string_view entries, std::string_view task = "statistics") {
  return R"({"task": ")" + std::string(task) + R"(", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {)" +
         std::string(entries) + "}}";
}

// A tensor's record; each of the numbers is JSON, "" leaves it out.
struct TensorText {
  std::string max = "1.0";
  std::string min = "-1.0";
  std::string mean = "0.25";
  std::string norm = "4.0";
  std::string dtype = R"("torch.float32")";
  std::string shape = "[2, 8]";
  std::string requires_grad = "true";
  std::string more;  // further members, with a comma in front

  [[nodiscard]] std::string json() const {
    std::string text = R"({"type": "torch.Tensor")";
    const std::initializer_list<std::pair<std::string_view, const std::string*>> members = {{"dtype", &dtype},
                                                                                            {"shape", &shape},
                                                                                            {"Max", &max},
                                                                                            {"Min", &min},
                                                                                            {"Mean", &mean},
                                                                                            {"Norm", &norm},
                                                                                            {"requires_grad", &requires_grad}};
    for (const auto& [key, value] : members) {
      if (!value->empty()) {
        text += ", \"" + std::string(key) + "\": " + *value;
      }
    }
    return text + more + "}";
  }
};

inline TensorText norm_of(std::string norm) {
  TensorText tensor;
  tensor.norm = std::move(norm);
  return tensor;
}

// "name": {"input_args": [inputs], "output": [outputs]}
inline std::string entry(std::string_view name, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  const auto list = [](const std::vector<std::string>& items) {
    std::string text = "[";
    for (const std::string& item : items) {
      text += (text.size() == 1 ? "" : ", ") + item;
    }
    return text + "]";
  };
  return "\"" + std::string(name) + R"(": {"input_args": )" + list(inputs) + R"(, "input_kwargs": {}, "output": )" +
         list(outputs) + "}";
}

inline Mode mode_of_task(const read::DumpModel& model) {
  if (model.task == "tensor") {
    return Mode::kTensor;
  }
  return model.has_md5 ? Mode::kMd5 : Mode::kStatistics;
}

inline TextTable table_of(const read::DumpModel& target, const read::DumpModel& golden, const MatchOptions& options = {}) {
  Comparison comparison;
  comparison.table = table_info(mode_of_task(target), false);
  comparison.target = &target;
  comparison.golden = &golden;
  const std::vector<ColumnId> columns = column_ids(comparison.table.mode, false);
  const Matching matching = match(target, golden, options);
  ComparedBlock block(comparison, columns);
  block.judge(matching.rows);
  TextTable table;
  Scratch scratch;
  for (std::size_t row = 0; row < block.size(); ++row) {
    TextRow& texts = table.emplace_back();
    for (std::size_t column = 0; column < columns.size(); ++column) {
      texts.emplace(comparison.table.columns[column].name, block.cell(row, column, scratch).text);
    }
  }
  return table;
}

// Of two dumps, each given by its entries.
inline TextTable compare_entries(std::string_view target, std::string_view golden, const MatchOptions& options = {}) {
  const read::DumpModel left = read::parse_dump(dump_text(target), "target.json");
  const read::DumpModel right = read::parse_dump(dump_text(golden), "golden.json");
  return table_of(left, right, options);
}

inline std::vector<std::string> column_of(const TextTable& table, std::string_view name) {
  std::vector<std::string> texts;
  for (const TextRow& row : table) {
    texts.push_back(row.find(name)->second);
  }
  return texts;
}

inline const std::string& at(const TextTable& table, std::size_t row, std::string_view column) {
  return table.at(row).find(column)->second;
}

inline bool says(const TextTable& table, std::size_t row, std::string_view text) {
  return at(table, row, "Err_message").find(text) != std::string::npos;
}

}  // namespace msprobe::compare

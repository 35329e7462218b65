// SPDX-License-Identifier: Apache-2.0
// A table held in memory, in place of a comparison, for the tests of its writers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compare/table.h"

namespace msprobe::report {

struct TestCell {
  std::string text;
  compare::CellKind kind = compare::CellKind::kText;
  double real = 0;
  std::int64_t integer = 0;
};

inline TestCell text_cell(std::string text) { return {std::move(text)}; }
inline TestCell real_cell(std::string text, double value) { return {std::move(text), compare::CellKind::kReal, value, 0}; }
inline TestCell integer_cell(std::string text, std::int64_t value) {
  return {std::move(text), compare::CellKind::kInteger, static_cast<double>(value), value};
}

struct TestRow {
  compare::Result result = compare::Result::kPass;
  std::vector<TestCell> cells;
};

class TestBlock : public compare::RowBlock {
 public:
  TestBlock(const compare::TableInfo& table, std::vector<TestRow> rows) : table_(table), rows_(std::move(rows)) {}
  [[nodiscard]] const compare::TableInfo& table() const override { return table_; }
  [[nodiscard]] std::size_t size() const override { return rows_.size(); }
  [[nodiscard]] compare::Result result(std::size_t row) const override { return rows_[row].result; }
  compare::Cell cell(std::size_t row, std::size_t column, compare::Scratch& scratch) const override {
    const TestCell& cell = rows_[row].cells[column];
    scratch.text = cell.text;  // as the real one: the text lives until the next call
    return {cell.kind, scratch.text, cell.real, cell.integer};
  }
  [[nodiscard]] const read::Counts* special_values(std::size_t /*row*/, bool /*of_target*/) const override { return nullptr; }
  [[nodiscard]] compare::Distance distance(std::size_t /*row*/) const override { return {}; }
  [[nodiscard]] std::int64_t moment(std::size_t /*row*/) const override { return -1; }

 private:
  const compare::TableInfo& table_;
  std::vector<TestRow> rows_;
};

// Name, a number, a percentage, Result, Err_message.
inline compare::TableInfo small_table() {
  compare::TableInfo table;
  table.columns = {{"NPU Name", compare::ColumnType::kText},
                   {"Max diff", compare::ColumnType::kNumber},
                   {"MaxRelativeErr", compare::ColumnType::kPercent},
                   {"Result", compare::ColumnType::kText},
                   {"Err_message", compare::ColumnType::kText}};
  table.name_column = 0;
  table.result_column = 3;
  table.message_column = 4;
  return table;
}

inline TestRow small_row(const std::string& name, TestCell number, TestCell percent,
                         compare::Result result = compare::Result::kPass, const std::string& message = "[]") {
  static const std::vector<std::string> kNames = {"pass", "warning", "error", "unmatched"};
  return {result,
          {text_cell(name), std::move(number), std::move(percent), text_cell(kNames[static_cast<std::size_t>(result)]),
           text_cell(message)}};
}

// All of it through a writer, in blocks.
inline std::string write_table(compare::TableWriter& writer, const compare::TableInfo& table, const std::vector<TestRow>& rows,
                               std::size_t block_rows = 1000) {
  for (std::size_t first = 0; first < rows.size(); first += block_rows) {
    const std::size_t last = std::min(first + block_rows, rows.size());
    const TestBlock block(
        table, {rows.begin() + static_cast<std::ptrdiff_t>(first), rows.begin() + static_cast<std::ptrdiff_t>(last)});
    writer.append(writer.encode(block));
  }
  return writer.finish();
}

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// From rows of a comparison to rows of sheets.
#include "report/xlsx.h"

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "report/workbook.h"

namespace msprobe::report {
namespace {

constexpr std::int64_t kLargestExact = std::int64_t{1} << 53U;  // a cell's number is a double
constexpr double kNameWidth = 60;
constexpr double kMessageWidth = 50;
constexpr double kOtherWidth = 14;

struct Value {
  enum class Kind : std::uint8_t { kText, kNumber, kFraction };
  Kind kind = Kind::kText;
  std::uint32_t length = 0;  // of a text, which follows the text before it
  double number = 0;
};

class Values : public compare::EncodedBlock {
 public:
  std::vector<compare::Result> results;  // one a row
  std::vector<Value> values;             // row by row
  std::string texts;
};

bool is_number_for_excel(const compare::Cell& cell) {
  if (cell.kind == compare::CellKind::kInteger) {
    return cell.integer <= kLargestExact && cell.integer >= -kLargestExact;
  }
  return cell.kind == compare::CellKind::kReal && std::isfinite(cell.real);
}

Fill fill_of(compare::Result result) {
  switch (result) {
    case compare::Result::kWarning:
      return Fill::kWarning;
    case compare::Result::kError:
      return Fill::kError;
    case compare::Result::kUnmatched:
      return Fill::kUnmatched;
    case compare::Result::kPass:
      return Fill::kNone;
  }
  return Fill::kNone;
}

class XlsxWriter : public compare::TableWriter {
 public:
  XlsxWriter(const std::string& path, const compare::TableInfo& table) : columns_(table.columns), workbook_(path) {
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const std::string& name = head_.emplace_back(columns_[column].name);
      widths_.push_back(name.ends_with(" Name") ? kNameWidth : column == table.message_column ? kMessageWidth : kOtherWidth);
    }
    begin_sheet();
  }

  [[nodiscard]] std::unique_ptr<compare::EncodedBlock> encode(const compare::RowBlock& block) const override {
    auto encoded = std::make_unique<Values>();
    compare::Scratch scratch;
    for (std::size_t row = 0; row < block.size(); ++row) {
      encoded->results.push_back(block.result(row));
      for (std::size_t column = 0; column < columns_.size(); ++column) {
        const compare::Cell cell = block.cell(row, column, scratch);
        if (is_number_for_excel(cell)) {
          const bool percent = columns_[column].type == compare::ColumnType::kPercent && cell.text.ends_with('%');
          encoded->values.push_back(
              {percent ? Value::Kind::kFraction : Value::Kind::kNumber, 0, percent ? cell.real / 100 : cell.real});
        } else {
          encoded->values.push_back({Value::Kind::kText, static_cast<std::uint32_t>(cell.text.size()), 0});
          encoded->texts += cell.text;
        }
      }
    }
    return encoded;
  }

  void append(std::unique_ptr<compare::EncodedBlock> block) override {
    const auto& encoded = static_cast<const Values&>(*block);
    std::string_view texts = encoded.texts;
    const Value* value = encoded.values.data();
    for (const compare::Result result : encoded.results) {
      if (workbook_.full()) {
        begin_sheet();
      }
      const Fill fill = fill_of(result);
      for (std::size_t column = 0; column < columns_.size(); ++column, ++value) {
        write(column, *value, texts, fill);
      }
      workbook_.end_row();
    }
  }

  std::string finish() override { return workbook_.finish(); }

 private:
  void begin_sheet() { workbook_.begin_sheet("Sheet" + std::to_string(++sheets_), head_, widths_); }

  void write(std::size_t column, const Value& value, std::string_view& texts, Fill fill) {
    switch (value.kind) {
      case Value::Kind::kNumber:
        workbook_.write_number(column, value.number, fill);
        break;
      case Value::Kind::kFraction:
        workbook_.write_fraction(column, value.number, fill);
        break;
      case Value::Kind::kText:
        workbook_.write_text(column, texts.substr(0, value.length), fill);
        texts.remove_prefix(value.length);
        break;
    }
  }

  std::vector<compare::Column> columns_;
  Workbook workbook_;
  std::vector<std::string> head_;
  std::vector<double> widths_;
  int sheets_ = 0;
};

}  // namespace

std::unique_ptr<compare::TableWriter> xlsx_writer(const compare::TableInfo& table, const std::string& path) {
  return std::make_unique<XlsxWriter>(path, table);
}

}  // namespace msprobe::report

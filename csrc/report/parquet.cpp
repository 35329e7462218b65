// SPDX-License-Identifier: Apache-2.0
// From rows of a comparison to pages of a Parquet file.
#include "report/parquet.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "report/parquet_file.h"
#include "report/unicode.h"

namespace msprobe::report {
namespace {

constexpr std::size_t kOwnColumns = 3;  // rank, step, row_index

class Pages : public compare::EncodedBlock {
 public:
  Pages(std::vector<ParquetPage> pages, std::size_t rows) : pages_(std::move(pages)), rows_(rows) {}
  std::vector<ParquetPage>& pages() { return pages_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  std::vector<ParquetPage> pages_;
  std::size_t rows_;
};

std::vector<ParquetColumn> parquet_columns(const compare::TableInfo& table) {
  std::vector<ParquetColumn> columns = {
      {"rank", ParquetType::kInteger}, {"step", ParquetType::kInteger}, {"row_index", ParquetType::kInteger}};
  for (const compare::Column& column : table.columns) {
    columns.push_back(
        {std::string(column.name), column.type == compare::ColumnType::kText ? ParquetType::kText : ParquetType::kDouble});
  }
  return columns;
}

// The format wants UTF-8, and DuckDB refuses a file without it.
std::string text_of(std::string_view text) {
  std::string storage;
  return std::string(valid_utf8(text, storage));
}

class ParquetWriter : public compare::TableWriter {
 public:
  ParquetWriter(const std::string& path, const compare::TableInfo& table)
      : rank_(table.rank),
        step_(table.step),
        columns_(table.columns),
        file_(path, parquet_columns(table),
              {{"target_path", text_of(table.target_path)}, {"golden_path", text_of(table.golden_path)}}) {}

  [[nodiscard]] std::unique_ptr<compare::EncodedBlock> encode(const compare::RowBlock& block) const override {
    std::vector<ParquetPage> pages;
    compare::Scratch scratch;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (columns_[column].type == compare::ColumnType::kText) {
        std::vector<std::string> texts;
        texts.reserve(block.size());
        for (std::size_t row = 0; row < block.size(); ++row) {
          texts.push_back(text_of(block.cell(row, column, scratch).text));
        }
        pages.push_back(text_page(texts));
      } else {
        std::vector<std::optional<double>> numbers(block.size());
        for (std::size_t row = 0; row < block.size(); ++row) {
          const compare::Cell cell = block.cell(row, column, scratch);
          if (cell.kind != compare::CellKind::kText) {
            numbers[row] = cell.real;
          }
        }
        pages.push_back(double_page(numbers));
      }
    }
    return std::make_unique<Pages>(std::move(pages), block.size());
  }

  void append(std::unique_ptr<compare::EncodedBlock> block) override {
    auto& encoded = static_cast<Pages&>(*block);
    if (encoded.rows() == 0) {
      return;
    }
    std::vector<std::optional<std::int64_t>> numbers(encoded.rows(), rank_);
    std::vector<ParquetPage> pages;
    pages.reserve(columns_.size() + kOwnColumns);
    pages.push_back(integer_page(numbers));
    numbers.assign(encoded.rows(), step_);
    pages.push_back(integer_page(numbers));
    for (std::optional<std::int64_t>& number : numbers) {
      number = next_row_++;
    }
    pages.push_back(integer_page(numbers));
    for (ParquetPage& page : encoded.pages()) {
      pages.push_back(std::move(page));
    }
    file_.append(std::move(pages));
  }

  std::string finish() override { return file_.finish(); }

 private:
  std::optional<std::int64_t> rank_;
  std::optional<std::int64_t> step_;
  std::vector<compare::Column> columns_;
  ParquetFile file_;
  std::int64_t next_row_ = 0;
};

}  // namespace

std::unique_ptr<compare::TableWriter> parquet_writer(const compare::TableInfo& table, const std::string& path) {
  return std::make_unique<ParquetWriter>(path, table);
}

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// JSON lines.
#include "report/jsonl.h"

#include <cassert>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "dump/json.h"

namespace msprobe::report {
namespace {

class Lines : public compare::EncodedBlock {
 public:
  explicit Lines(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string number_or_null(std::optional<std::int64_t> number) {
  std::string out = "null";
  if (number) {
    out.clear();
    dump::append_json_number(out, *number);
  }
  return out;
}

class JsonlWriter : public compare::TableWriter {
 public:
  JsonlWriter(const std::string& path, const compare::TableInfo& table) : file_(path), message_column_(table.message_column) {
    start_ = R"({"rank": )" + number_or_null(table.rank) + R"(, "step": )" + number_or_null(table.step);
    for (const compare::Column& column : table.columns) {
      std::string& key = keys_.emplace_back(", ");
      dump::append_json_string(key, column.name);
      key += ": ";
    }
  }

  [[nodiscard]] std::unique_ptr<compare::EncodedBlock> encode(const compare::RowBlock& block) const override {
    std::string out;
    compare::Scratch scratch;
    for (std::size_t row = 0; row < block.size(); ++row) {
      out += start_;
      for (std::size_t column = 0; column < keys_.size(); ++column) {
        out += keys_[column];
        append_cell(out, block.cell(row, column, scratch), column);
      }
      out += "}\n";
    }
    return std::make_unique<Lines>(std::move(out));
  }

  void append(std::unique_ptr<compare::EncodedBlock> block) override { file_.write(static_cast<const Lines&>(*block).text()); }

  std::string finish() override { return file_.commit_new(); }

 private:
  void append_cell(std::string& out, const compare::Cell& cell, std::size_t column) const {
    if (cell.kind == compare::CellKind::kInteger) {
      dump::append_json_number(out, cell.integer);
    } else if (cell.kind == compare::CellKind::kReal && std::isfinite(cell.real)) {
      dump::append_json_number(out, cell.real);
    } else if (column == message_column_) {
      out += cell.text;  // a JSON list already
    } else {
      dump::append_json_string(out, cell.text);
    }
  }

  AtomicFile file_;
  std::size_t message_column_;
  std::string start_;
  std::vector<std::string> keys_;
};

}  // namespace

std::unique_ptr<compare::TableWriter> jsonl_writer(const compare::TableInfo& table, const std::string& path) {
  return std::make_unique<JsonlWriter>(path, table);
}

}  // namespace msprobe::report

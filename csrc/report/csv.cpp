// SPDX-License-Identifier: Apache-2.0
// Fields, lines, the file.
#include "report/csv.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/atomic_file.h"

namespace msprobe::report {
namespace {

using compare::Cell;
using compare::CellKind;
using compare::RowBlock;
using compare::TableInfo;

constexpr std::string_view kFormulaStarts = "=+-@\t\r\n";
constexpr std::array<std::string_view, 4> kWideStarts = {"\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};  // the same in full width

bool starts_formula(std::string_view text) {
  if (text.empty()) {
    return false;
  }
  if (kFormulaStarts.find(text.front()) != std::string_view::npos) {
    return true;
  }
  for (const std::string_view start : kWideStarts) {
    if (text.starts_with(start)) {
      return true;
    }
  }
  return false;
}

// OWASP, "CSV Injection": a ' before what a spreadsheet takes for a formula. ';' separates fields in some locales.
bool disarm(std::string_view text, std::string& safe) {
  bool changed = starts_formula(text);
  safe.clear();
  if (changed) {
    safe += '\'';
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    safe += text[i];
    if (text[i] == ';' && starts_formula(text.substr(i + 1))) {
      safe += '\'';
      changed = true;
    }
  }
  return changed;
}

enum CharacterUse : std::uint8_t { kPlain = 0, kQuoted = 1, kSuspect = 2 };

// What each byte asks for: quotes around the field, or a look at what a spreadsheet might make of it.
constexpr std::array<std::uint8_t, 256> kUses = [] {
  std::array<std::uint8_t, 256> uses{};
  for (const char c : std::string_view(",\"\r\n")) {
    uses[static_cast<unsigned char>(c)] |= kQuoted;
  }
  uses[static_cast<unsigned char>(';')] |= kSuspect;
  return uses;
}();

class CsvBlock : public compare::EncodedBlock {
 public:
  std::string text;
};

class CsvWriter : public compare::TableWriter {
 public:
  CsvWriter(const TableInfo& info, const std::string& path) : file_(path) {
    std::string line;
    for (const compare::Column& column : info.columns) {
      line += line.empty() ? "" : ",";
      append_csv_field(line, column.name, false);
    }
    line += '\n';
    file_.write(line);
  }

  [[nodiscard]] std::unique_ptr<compare::EncodedBlock> encode(const RowBlock& block) const override {
    constexpr std::size_t kUsualLine = 400;
    auto encoded = std::make_unique<CsvBlock>();
    std::string& text = encoded->text;
    text.reserve(block.size() * kUsualLine);
    compare::Scratch scratch;
    const std::size_t columns = block.table().columns.size();
    for (std::size_t row = 0; row < block.size(); ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        if (column > 0) {
          text += ',';
        }
        const Cell cell = block.cell(row, column, scratch);
        append_csv_field(text, cell.text, cell.kind != CellKind::kText);
      }
      text += '\n';
    }
    return encoded;
  }

  void append(std::unique_ptr<compare::EncodedBlock> block) override {
    file_.write(static_cast<const CsvBlock&>(*block).text);  // each block is made by encode() of this class
  }

  std::string finish() override { return file_.commit_new(); }

 private:
  AtomicFile file_;
};

}  // namespace

void append_csv_field(std::string& out, std::string_view text, bool is_number) {
  if (is_number) {
    out += text;  // holds nothing that could matter
    return;
  }
  unsigned uses = 0;
  for (const char c : text) {
    uses |= kUses[static_cast<unsigned char>(c)];
  }
  std::string safe;
  if (((uses & kSuspect) != 0 || starts_formula(text)) && disarm(text, safe)) {
    text = safe;
  }
  if ((uses & kQuoted) == 0) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') {
      out += '"';
    }
    out += c;
  }
  out += '"';
}

std::unique_ptr<compare::TableWriter> csv_writer(const TableInfo& info, const std::string& path) {
  return std::make_unique<CsvWriter>(info, path);
}

}  // namespace msprobe::report

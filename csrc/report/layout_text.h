// SPDX-License-Identifier: Apache-2.0
// Tables and paragraphs of a given width, in plain text or with colours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/unicode.h"

namespace msprobe::report {

enum class Ink : std::uint8_t { kPlain, kBold, kRed, kYellow, kGreen, kMagenta };

std::string inked(std::string_view text, Ink ink, bool colours);

// Columns as wide as what stands in them. Where the table would exceed its width, the last one gives way first.
class TextTable {
 public:
  struct Column {
    std::string head;
    bool right = false;
    std::size_t narrowest = 0;  // to which it may be cut; 0: never
    Cut cut = Cut::kMiddle;
  };
  struct Cell {
    std::string text;
    Ink ink = Ink::kPlain;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  void append_to(std::string& out, std::size_t width, bool colours) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Appends `text` broken at blanks, every line after `indent` blanks; the first one begins with `lead`, which takes the place of the
// blanks. A word that is too long for a line stands on one alone, whole: it is a name that someone wants to copy.
void append_wrapped(std::string& out, std::string_view lead, std::string_view text, std::size_t indent, std::size_t width);

// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number);

}  // namespace msprobe::report

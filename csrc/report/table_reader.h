// SPDX-License-Identifier: Apache-2.0
// Reads a table back from a CSV or an .xlsx file, row by row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::report {

// A cell as it counts, whichever way the file spells it: the text 12.5%, and a number shown as a percentage, are the same fraction.
struct TableCell {
  enum class Kind : std::uint8_t { kEmpty, kText, kNumber, kFraction };
  Kind kind = Kind::kEmpty;
  double number = 0;  // of kNumber and kFraction (0.125 for 12.5%); finite
  std::string text;   // of kText and kNumber, as the file has it
};

TableCell cell_of_text(std::string_view text);

// The first row is the head; it is given as texts. Rows are as long as the file has them.
using RowTaker = std::function<void(const std::vector<TableCell>& row)>;

// By RFC 4180: quotes, doubled quotes and line breaks within them. Error, with the byte, for a quote that is not closed and for a row
// with more or fewer cells than the head.
void read_csv(const std::string& path, const RowTaker& take);

// Sheet after sheet; the heads of the later sheets are left out if they equal the first one's. Error for a damaged file.
void read_xlsx(const std::string& path, const RowTaker& take);

}  // namespace msprobe::report

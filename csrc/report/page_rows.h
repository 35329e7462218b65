// SPDX-License-Identifier: Apache-2.0
// Rows of a table in columns, small enough to be carried inside an HTML page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/table.h"
#include "read/text_pool.h"

namespace msprobe::report {

enum class PageKind : std::uint8_t {
  kName,        // a row's name: that of its op, then ".input", ".output" or ".parameters" and what follows
  kText,        // texts, each kept once
  kNumber,      // a double, or a word in its place
  kDifference,  // target - golden of two columns of numbers; only what is anything else is kept
  kRelative,    // |(target - golden) / golden| in percent, likewise
};

struct PageColumn {
  std::string_view key;    // the script's name for it; static memory
  std::string_view title;  // the reader's; static memory
  PageKind kind = PageKind::kText;
  std::size_t target = 0;  // of kDifference and kRelative: the two columns of numbers, filled before it
  std::size_t golden = 0;
};

// What web/src/data.ts reads: both speak of this one layout. Zlib around
//   length of the header (uint32), header (JSON), zeros up to a multiple of 8, sections (each likewise filled up).
// Header: rows, `ops`, `places`, `words`: texts by number; `place`: a section of each row's place in the whole table; `columns`.
// Sections are [offset, length] in bytes. Numbers of texts and places are int32 differences to the row before. Little-endian.
class PageRows {
 public:
  explicit PageRows(std::vector<PageColumn> columns);

  // The cells of one row, each column once, then end_row().
  void text(std::size_t column, std::string_view text);
  void number(std::size_t column, double value);
  void number(std::size_t column, double value, std::string_view exact);  // where a double does not hold all digits
  void word(std::size_t column, std::string_view text);                   // no number
  void derived(std::size_t column, const compare::Cell& cell);
  void end_row(compare::Result result, std::uint64_t place);

  void add_row(const PageRows& other, std::size_t row);  // of the same columns; in ascending order of rows

  [[nodiscard]] std::size_t size() const { return results_.size(); }
  [[nodiscard]] compare::Result result(std::size_t row) const { return results_[row]; }
  [[nodiscard]] std::uint64_t place(std::size_t row) const { return places_[row]; }
  void shift_places(std::uint64_t by);
  [[nodiscard]] std::string packed() const;

 private:
  struct Cells {
    read::TextPool texts;                   // of kText
    std::vector<std::uint32_t> ids;         // of kText and kName (ops)
    std::vector<std::uint32_t> suffix_ids;  // of kName
    std::vector<double> numbers;            // of kNumber; NaN where a word stands
    std::vector<std::uint32_t> word_rows;   // of kNumber and the derived ones
    std::vector<std::uint32_t> word_ids;
  };
  void add_word(Cells& cells, std::string_view text);

  std::vector<PageColumn> columns_;
  std::vector<Cells> cells_;
  read::TextPool ops_;
  read::TextPool suffixes_;
  read::TextPool words_;
  std::vector<compare::Result> results_;
  std::vector<std::uint64_t> places_;
};

}  // namespace msprobe::report

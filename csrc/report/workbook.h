// SPDX-License-Identifier: Apache-2.0
// An .xlsx file that is complete or not there: sheets of texts and numbers, written row by row in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "read/open_inside.h"
#include "report/xlsx_library.h"

namespace msprobe::report {

// What Excel allows.
inline constexpr std::uint32_t kSheetRows = 1048576;
inline constexpr std::size_t kCellCharacters = 32767;

// How a cell looks. Colours are those of results.
enum class Fill : std::uint8_t { kNone, kWarning, kError, kUnmatched };

// One thread at a time. Rows are written downwards. Only the packed file is held in memory: it is made there, so that a full disk
// is met by our own writing, and the sheets wait in files without names beside `path`.
class Workbook {
 public:
  explicit Workbook(std::string path);
  ~Workbook();
  Workbook(const Workbook&) = delete;
  Workbook& operator=(const Workbook&) = delete;

  // The sheet that the next rows go to, with a head that stays in sight; widths are in characters. Its name has at most 31 characters,
  // is not empty, and has none of []:*?/\ in it.
  void begin_sheet(const std::string& name, const std::vector<std::string>& head, const std::vector<double>& widths);
  [[nodiscard]] bool full() const { return row_ == kSheetRows; }

  void write_text(std::size_t column, std::string_view text, Fill fill);
  void write_number(std::size_t column, double number, Fill fill);    // finite
  void write_fraction(std::size_t column, double number, Fill fill);  // finite; 0.125 is shown as 12.5%
  void write_blank(std::size_t column, Fill fill);
  void end_row() { ++row_; }

  std::string finish();  // puts the file in its place; returns its path

 private:
  void end_sheet();
  void check(lxw_error error);
  void check_sheet_file(lxw_worksheet* sheet);
  [[noreturn]] void fail_write(int errno_value) const;

  const XlsxLibrary& library_;
  std::string path_;
  TemporaryFolder folder_;       // where the sheets wait
  std::string text_;             // a cell's, for its final zero
  read::FileDescriptor memory_;  // of the packed file
  lxw_workbook* workbook_ = nullptr;
  std::vector<lxw_worksheet*> sheets_;
  std::vector<lxw_format*> plain_;  // by Fill
  std::vector<lxw_format*> percent_;
  lxw_format* bold_ = nullptr;
  std::uint32_t row_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// Workbooks by libxlsxwriter, with the checks of its files that it does not make itself.
#include "report/workbook.h"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "read/pt_memory.h"
#include "report/unicode.h"
#include "report/xlsx_parts.h"

namespace msprobe::report {
namespace {

constexpr std::array<lxw_color_t, 4> kFills = {0, 0xFFEB9C, 0xFFC7CE, 0xD9D9D9};  // by Fill: amber, red, grey, all light
constexpr const char* kPercentFormat = "0.0###############%";
constexpr std::string_view kCut = "... (cut: Excel's cells hold 32767 characters)";

}  // namespace

Workbook::Workbook(std::string path) : library_(xlsx_library()), path_(std::move(path)), folder_(path_) {
  memory_ = read::FileDescriptor(memfd_create("msprobe workbook", MFD_CLOEXEC));
  if (memory_.get() < 0) {
    fail_write(errno);
  }
  lxw_workbook_options options{};
  options.constant_memory = LXW_TRUE;
  std::string folder = folder_.path();  // copied by the library
  options.tmpdir = folder.data();
  options.use_zip64 = LXW_TRUE;
  workbook_ = library_.workbook_new_opt(("/proc/self/fd/" + std::to_string(memory_.get())).c_str(), &options);
  if (workbook_ == nullptr) {
    fail_write(ENOMEM);
  }
  for (const lxw_color_t fill : kFills) {
    lxw_format* plain = library_.workbook_add_format(workbook_);
    lxw_format* percent = library_.workbook_add_format(workbook_);
    library_.format_set_num_format(percent, kPercentFormat);
    if (fill != 0) {
      library_.format_set_bg_color(plain, fill);
      library_.format_set_bg_color(percent, fill);
    }
    plain_.push_back(plain);
    percent_.push_back(percent);
  }
  bold_ = library_.workbook_add_format(workbook_);
  library_.format_set_bold(bold_);
}

Workbook::~Workbook() {
  if (workbook_ != nullptr) {
    library_.lxw_workbook_free(workbook_);
  }
}

void Workbook::fail_write(int errno_value) const { fail_file("write", path_, errno_value != 0 ? errno_value : EIO); }

void Workbook::check(lxw_error error) {
  if (error != LXW_NO_ERROR) {
    fail("cannot write '", path_, "', row ", row_ + 1, ": ", library_.lxw_strerror(error));
  }
}

void Workbook::begin_sheet(const std::string& name, const std::vector<std::string>& head, const std::vector<double>& widths) {
  end_sheet();
  lxw_worksheet* sheet = library_.workbook_add_worksheet(workbook_, name.c_str());
  if (sheet == nullptr || sheet->optimize_tmpfile == nullptr) {
    fail_write(errno);
  }
  sheets_.push_back(sheet);
  row_ = 0;
  columns_ = head.size();
  for (std::size_t column = 0; column < head.size(); ++column) {
    const auto place = static_cast<lxw_col_t>(column);
    check(library_.worksheet_set_column(sheet, place, place, widths[column], nullptr));
    check(library_.worksheet_write_string(sheet, 0, place, head[column].c_str(), bold_));
  }
  library_.worksheet_freeze_panes(sheet, 1, 1);
  ++row_;
}

void Workbook::end_sheet() {
  if (sheets_.empty()) {
    return;
  }
  if (columns_ > 0) {
    check(library_.worksheet_autofilter(sheets_.back(), 0, 0, row_ - 1, static_cast<lxw_col_t>(columns_ - 1)));
  }
  check_sheet_file(sheets_.back());
}

void Workbook::write_text(std::size_t column, std::string_view text, Fill fill) {
  std::string storage;
  text_ = valid_utf8(text, storage);
  for (std::size_t zero = text_.find('\0'); zero != std::string::npos; zero = text_.find('\0', zero)) {
    text_.replace(zero, 1, "\xEF\xBF\xBD");  // a C text ends at a zero
  }
  if (text_.size() > kCellCharacters) {
    text_ = std::string(utf8_prefix(text_, kCellCharacters - kCut.size())) + std::string(kCut);
  }
  check(library_.worksheet_write_string(sheets_.back(), row_, static_cast<lxw_col_t>(column), text_.c_str(),
                                        plain_[static_cast<std::size_t>(fill)]));
}

void Workbook::write_number(std::size_t column, double number, Fill fill) {
  check(library_.worksheet_write_number(sheets_.back(), row_, static_cast<lxw_col_t>(column), number,
                                        plain_[static_cast<std::size_t>(fill)]));
}

void Workbook::write_fraction(std::size_t column, double number, Fill fill) {
  check(library_.worksheet_write_number(sheets_.back(), row_, static_cast<lxw_col_t>(column), number,
                                        percent_[static_cast<std::size_t>(fill)]));
}

void Workbook::write_blank(std::size_t column, Fill fill) {
  check(library_.worksheet_write_blank(sheets_.back(), row_, static_cast<lxw_col_t>(column),
                                       plain_[static_cast<std::size_t>(fill)]));
}

// libxlsxwriter looks at no result of its writes to the file that a sheet waits in: a full disk would give a short sheet.
void Workbook::check_sheet_file(lxw_worksheet* sheet) {
  errno = 0;
  const bool flushed = std::fflush(sheet->optimize_tmpfile) == 0;
  const int reason = errno;
  if (!flushed || std::ferror(sheet->optimize_tmpfile) != 0) {
    fail_write(reason != 0 ? reason : ENOSPC);
  }
}

std::string Workbook::finish() {
  end_sheet();
  check(library_.workbook_close(std::exchange(workbook_, nullptr)));  // frees it, whatever it returns
  const std::shared_ptr<read::MappedMemory> packed = read::MappedMemory::map_file(memory_, path_);
  // The same holds for the files in which it puts the parts together.
  if (const std::string part = first_cut_part(packed->bytes(), path_); !part.empty()) {
    fail("cannot write '", path_, "': its part ", part, " was cut off, as on a full disk; free space there and try again");
  }
  AtomicFile file(path_);
  file.write({reinterpret_cast<const char*>(packed->bytes().data()), packed->bytes().size()});
  return file.commit_new();
}

}  // namespace msprobe::report

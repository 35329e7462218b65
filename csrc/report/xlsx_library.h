// SPDX-License-Identifier: Apache-2.0
// libxlsxwriter, loaded when a workbook is asked for and not before.
#pragma once

#include <xlsxwriter.h>

namespace msprobe::report {

// The functions that are used. Debian has the library as a shared one only: linked, the program would start on no machine that lacks
// it, though only workbooks need it. A wheel carries it beside the other libraries.
struct XlsxLibrary {
  decltype(&::workbook_new_opt) workbook_new_opt = nullptr;
  decltype(&::workbook_add_worksheet) workbook_add_worksheet = nullptr;
  decltype(&::workbook_add_format) workbook_add_format = nullptr;
  decltype(&::workbook_close) workbook_close = nullptr;
  decltype(&::lxw_workbook_free) lxw_workbook_free = nullptr;
  decltype(&::worksheet_write_number) worksheet_write_number = nullptr;
  decltype(&::worksheet_write_string) worksheet_write_string = nullptr;
  decltype(&::worksheet_write_blank) worksheet_write_blank = nullptr;
  decltype(&::worksheet_set_column) worksheet_set_column = nullptr;
  decltype(&::worksheet_freeze_panes) worksheet_freeze_panes = nullptr;
  decltype(&::worksheet_autofilter) worksheet_autofilter = nullptr;
  decltype(&::format_set_bg_color) format_set_bg_color = nullptr;
  decltype(&::format_set_bold) format_set_bold = nullptr;
  decltype(&::format_set_num_format) format_set_num_format = nullptr;
  decltype(&::lxw_strerror) lxw_strerror = nullptr;
};

// Loads it at the first call: from the folder `msprobe/lib` of the installation, else from the system. An Error tells how to install it.
const XlsxLibrary& xlsx_library();

}  // namespace msprobe::report

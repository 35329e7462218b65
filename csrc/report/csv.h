// SPDX-License-Identifier: Apache-2.0
// CSV as pandas writes it: UTF-8, LF, quotes only where they must be; cells that a spreadsheet would run as formulas are disarmed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compare/table.h"

namespace msprobe::report {

std::unique_ptr<compare::TableWriter> csv_writer(const compare::TableInfo& info, const std::string& path);

// Appends one field. A text that begins with = + - @, their full-width forms, a tab or a line end, or has ';' before one of these,
// gets a ' before it; numbers stand as they are.
void append_csv_field(std::string& out, std::string_view text, bool is_number);

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// A comparison as a workbook: Sheet1, and Sheet2, ... where Excel's 1,048,576 rows do not suffice.
#pragma once

#include <memory>
#include <string>

#include "compare/table.h"

namespace msprobe::report {

// The columns of the CSV. Numbers are number cells, percentages too (shown with '%'); what is no number for Excel (N/A, Nan, inf, an
// integer above 2^53) is a text. Rows are coloured by their result; the head stays in sight and has filters.
std::unique_ptr<compare::TableWriter> xlsx_writer(const compare::TableInfo& table, const std::string& path);

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// A comparison as JSON lines: one object a row, for programs.
#pragma once

#include <memory>
#include <string>

#include "compare/table.h"

namespace msprobe::report {

// Keys are `rank` and `step` (null where the folders named none), then the names of the columns. A number stands as one; what
// JSON has no number for (N/A, Nan, inf, ...) stands as the text of the CSV. Percentages are numbers of percent. Err_message is a
// list. The file is valid JSON, line by line, whatever the names hold.
std::unique_ptr<compare::TableWriter> jsonl_writer(const compare::TableInfo& table, const std::string& path);

}  // namespace msprobe::report

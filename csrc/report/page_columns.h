// SPDX-License-Identifier: Apache-2.0
// Which columns a page has for the table of a comparison, and how its rows fill them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compare/table.h"
#include "report/page_rows.h"

namespace msprobe::report {

// Those of the table in their order, then the special values of each side (special_text below).
std::vector<PageColumn> page_columns(const compare::TableInfo& table);

// All rows of the block; places count from 0.
PageRows page_rows(const std::vector<PageColumn>& columns, const compare::RowBlock& block);

// A cell of numbers: a word, a number, or a large integer, whose digits a double does not hold.
void fill_page_number(PageRows& rows, std::size_t column, bool is_number, double value, std::string_view text);

// "[nan, +inf, -inf, zero]" as JSON; "" if nothing was counted.
std::string special_text(const read::Counts* counts);

}  // namespace msprobe::report

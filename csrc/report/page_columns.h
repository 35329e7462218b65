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

// Words of the column E.
inline constexpr std::string_view kHardDistance = "hard";      // no number: the difference is one of kind
inline constexpr std::string_view kChoiceDiffers = "differs";  // integers and truth values
inline constexpr std::string_view kByChance = "chance";        // an operator whose partner need not be the same call

// Those of the table in their order, then the special values of each side (special_text below), E (compare::Distance) and the place in the
// order of execution.
std::vector<PageColumn> page_columns(const compare::TableInfo& table);

// All rows of the block; places count from 0.
PageRows page_rows(const std::vector<PageColumn>& columns, const compare::RowBlock& block);

// A cell of numbers: a word, a number, or a large integer, whose digits a double does not hold.
void fill_page_number(PageRows& rows, std::size_t column, bool is_number, double value, std::string_view text);

// A place in the order of execution; -1: not known.
void add_page_order(PageRows& rows, std::size_t column, std::int64_t moment);

// "[nan, +inf, -inf, zero]" as JSON; "" if nothing was counted.
std::string special_text(const read::Counts* counts);

}  // namespace msprobe::report

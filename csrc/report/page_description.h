// SPDX-License-Identifier: Apache-2.0
// What the descriptions of all kinds of pages have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/json_text.h"

namespace msprobe::report {

// `kind` ("compare" or "view"), `made` (when), `limit` (rows that a page carries). Into an object that is open.
void begin_description(JsonText& json, std::string_view kind);

// `rows` that the page carries of a table, `of_all` that the table has.
void append_table_size(JsonText& json, std::size_t rows, std::uint64_t of_all);

// When a file was last written, in local time with its offset; "" if that cannot be told.
std::string time_of_file(const std::string& path);

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// Writes JSON text piece by piece: escaping and numbers, nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprobe::dump {

// Appends `text` in quotes. Control characters, quotes and backslashes are escaped; bytes that are not UTF-8 become U+FFFD, so
// that any reader takes the file.
void append_json_string(std::string& out, std::string_view text);

// The shortest text that reads back to the same double, always with a point or an exponent. Not for values that are not finite.
void append_json_number(std::string& out, double value);
void append_json_number(std::string& out, std::int64_t value);
void append_json_number(std::string& out, std::uint64_t value);

}  // namespace msprobe::dump

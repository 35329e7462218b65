// SPDX-License-Identifier: Apache-2.0
// Text as files and terminals want it: valid UTF-8, columns on the screen, cut to a width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace msprobe::report {

// `text` itself if it is UTF-8, else a copy in `storage` with U+FFFD in place of each byte that is not.
std::string_view valid_utf8(std::string_view text, std::string& storage);

// Columns on a terminal: 2 for most Chinese, Japanese and Korean characters, 0 for combining ones.
std::size_t display_width(std::string_view text);

// Where a text that is too long gives way to an ellipsis: a name in its middle, since names differ at their ends; prose at its end.
enum class Cut : std::uint8_t { kMiddle, kEnd };

// At most `width` columns, which are at least 1. Control characters, which would move the cursor, become U+FFFD.
std::string fit(std::string_view text, std::size_t width, Cut cut = Cut::kMiddle);

// The same, filled up with blanks to exactly `width` columns.
std::string fit_left(std::string_view text, std::size_t width, Cut cut = Cut::kMiddle);
std::string fit_right(std::string_view text, std::size_t width);

// The first characters of UTF-8 text that have at most `bytes` bytes.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes);

}  // namespace msprobe::report

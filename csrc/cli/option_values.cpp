// SPDX-License-Identifier: Apache-2.0
// Values of options that several commands have.
#include "cli/option_values.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace msprobe::cli {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<std::string> split_list(const std::vector<std::string>& words) {
  std::vector<std::string> items;
  for (const std::string& word : words) {
    for (std::size_t start = 0; start <= word.size();) {
      const std::size_t end = std::min(word.find(',', start), word.size());
      items.push_back(word.substr(start, end - start));
      start = end + 1;
    }
  }
  return items;
}

read::NumberRanges parse_ranges(const std::string& option, const std::vector<std::string>& words) {
  read::NumberRanges ranges;
  for (const std::string& item : split_list(words)) {
    const std::size_t dash = item.find('-');
    const std::optional<std::int64_t> first = whole_number(item.substr(0, dash));
    const std::optional<std::int64_t> last = dash == std::string::npos ? first : whole_number(item.substr(dash + 1));
    if (!first || !last || *first > *last) {
      fail(option, " must be numbers and ranges such as 0,4-7, got '", item, "'");
    }
    ranges.emplace_back(*first, *last);
  }
  return ranges;
}

int parse_threads(const std::string& text) {
  constexpr std::int64_t kMost = 1024;
  const std::optional<std::int64_t> number = whole_number(text);
  if (!number || *number < 1 || *number > kMost) {
    fail("--threads must be a number from 1 to ", kMost, ", got '", text, "'");
  }
  return static_cast<int>(*number);
}

}  // namespace msprobe::cli

// SPDX-License-Identifier: Apache-2.0
// Text from a file, made fit for a message: short, and nothing that a terminal acts on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace msprobe::read {

inline std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string shown(text.substr(0, kLongest));
  std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > kLongest ? shown + "..." : shown;
}

}  // namespace msprobe::read

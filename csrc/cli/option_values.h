// SPDX-License-Identifier: Apache-2.0
// Values of options that several commands have.
#pragma once

#include <string>
#include <vector>

#include "read/layout.h"

namespace msprobe::cli {

// What stands between commas, of all words.
std::vector<std::string> split_list(const std::vector<std::string>& words);

// Numbers and ranges, as 0,4-7. Throws Error with the name of the option.
read::NumberRanges parse_ranges(const std::string& option, const std::vector<std::string>& words);

// 1 to 1024.
int parse_threads(const std::string& text);

}  // namespace msprobe::cli

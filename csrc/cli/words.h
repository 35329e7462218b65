// SPDX-License-Identifier: Apache-2.0
// The words of a command line, put into the one spelling that the parser of options knows.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::cli {

using Words = std::vector<std::string>;
// Short names of several letters behind one dash, such as -tp, with their long ones: no parser of options has these.
using ShortNames = std::map<std::string_view, std::string_view>;

// -tp PATH and -tp=PATH become --target_path PATH and --target_path=PATH; --target-path becomes --target_path;
// -o=PATH becomes -oPATH. Values stay as they are.
Words with_long_names(const Words& words, const ShortNames& names);

// Whether -h or --help is among the words.
bool asks_for_help(const Words& words);

}  // namespace msprobe::cli

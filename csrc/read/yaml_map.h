// SPDX-License-Identifier: Apache-2.0
// Reads the maps of names that a user writes by hand: flat YAML, one text to another.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprobe::read {

// Pairs in the order of the file; of several with one key the last counts, at the place of the first.
using YamlMap = std::vector<std::pair<std::string, std::string>>;

// Throws Error, with the line, for whatever is no flat mapping of texts: lists, nested mappings, aliases, an empty file.
YamlMap read_yaml_map(const std::string& path);
YamlMap parse_yaml_map(std::string_view text, const std::string& name);  // `name` is for messages

}  // namespace msprobe::read

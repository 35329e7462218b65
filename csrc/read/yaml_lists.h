// SPDX-License-Identifier: Apache-2.0
// Reads a YAML mapping of lists of texts, as the configuration of merge_result is.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::read {

using YamlLists = std::map<std::string, std::vector<std::string>>;

// A key without a value has an empty list. Throws Error, with the line, for keys that are not among `known`, keys that stand twice, and
// values that are no lists of texts.
YamlLists read_yaml_lists(const std::string& path, const std::vector<std::string_view>& known);
YamlLists parse_yaml_lists(std::string_view text, const std::string& name, const std::vector<std::string_view>& known);

}  // namespace msprobe::read

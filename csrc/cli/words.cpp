// SPDX-License-Identifier: Apache-2.0
// Rewrites the names of options.
#include "cli/words.h"

#include <algorithm>

namespace msprobe::cli {

Words with_long_names(const Words& words, const ShortNames& names) {
  Words result;
  result.reserve(words.size());
  for (const std::string& word : words) {
    const std::size_t name_size = std::min(word.find('='), word.size());
    std::string name = word.substr(0, name_size);
    const auto found = names.find(name);
    if (found != names.end()) {
      name = found->second;
    } else if (name.size() == 2 && name[0] == '-' && name[1] != '-' && name_size < word.size()) {
      result.push_back(name + word.substr(name_size + 1));  // CLI11 takes what follows one letter as it is, a '=' too
      continue;
    } else if (name.starts_with("--")) {
      std::replace(name.begin() + 2, name.end(), '-', '_');
    }
    result.push_back(name + word.substr(name_size));
  }
  return result;
}

bool asks_for_help(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return word == "-h" || word == "--help"; });
}

}  // namespace msprobe::cli

// SPDX-License-Identifier: Apache-2.0
// Keeps parameters' records until their module's next entry.
#include "dump/parameters.h"

#include <algorithm>

namespace msprobe::dump {

void Parameters::take_from(std::vector<log::Record>& records, const log::TagTable& tags) {
  const auto is_parameter = [&](const log::Record& record) { return tags[record.tag].section == log::Section::kParameters; };
  for (const log::Record& record : records) {
    if (!is_parameter(record)) {
      continue;
    }
    std::vector<log::Record>& known = fresh_[tags[record.tag].name_id];
    const auto same = std::find_if(known.begin(), known.end(), [&](const log::Record& one) { return one.tag == record.tag; });
    if (same != known.end()) {
      *same = record;
    } else {
      known.push_back(record);
    }
  }
  std::erase_if(records, is_parameter);
}

const std::vector<log::Record>* Parameters::of(log::NameId module) const {
  const auto found = fresh_.find(module);
  return found == fresh_.end() ? nullptr : &found->second;
}

void Parameters::written(const std::unordered_set<log::NameId>& modules) {
  for (const log::NameId module : modules) {
    fresh_.erase(module);
  }
}

}  // namespace msprobe::dump

// SPDX-License-Identifier: Apache-2.0
// Counts the calls of each operator on both sides.
#include "compare/chance.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "compare/divergence_calls.h"

namespace msprobe::compare {
namespace {

using divergence::CallName;
using divergence::parse_call_name;

std::vector<CallName> names_of(const read::DumpModel& model) {
  std::vector<CallName> names;
  names.reserve(model.ops.size());
  for (const read::Op& op : model.ops) {
    names.push_back(parse_call_name(model.text(op.name)));
  }
  return names;
}

bool has_modules(const std::vector<CallName>& names) { return std::ranges::any_of(names, &CallName::module); }

}  // namespace

std::vector<bool> paired_by_chance(const read::DumpModel& target, const read::DumpModel& golden) {
  std::vector<bool> by_chance(target.ops.size(), false);
  const std::vector<CallName> of_target = names_of(target);
  const std::vector<CallName> of_golden = names_of(golden);
  if (!has_modules(of_target) || !has_modules(of_golden)) {
    return by_chance;
  }
  std::unordered_map<std::string_view, std::int64_t> more_in_target;
  const auto count = [&](const std::vector<CallName>& names, std::int64_t each) {
    for (const CallName& name : names) {
      if (!name.module) {
        more_in_target[name.qualified] += each;
      }
    }
  };
  count(of_target, 1);
  count(of_golden, -1);
  for (std::size_t op = 0; op < of_target.size(); ++op) {
    by_chance[op] = !of_target[op].module && more_in_target[of_target[op].qualified] != 0;
  }
  return by_chance;
}

}  // namespace msprobe::compare

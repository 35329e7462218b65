// SPDX-License-Identifier: Apache-2.0
// Counts the calls of each operator on both sides.
#include "compare/chance.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace msprobe::compare {
namespace {

bool is_module(std::string_view name) { return name.starts_with("Module.") || name.starts_with("Cell."); }

bool has_modules(const read::DumpModel& model) {
  return std::any_of(model.ops.begin(), model.ops.end(), [&](const read::Op& op) { return is_module(model.text(op.name)); });
}

// Without the number of the call and what follows it: Aten.addmm of Aten.addmm.3.forward.
std::string_view operator_of(std::string_view name) {
  const std::size_t direction = name.rfind('.');
  if (direction == std::string_view::npos) {
    return name;
  }
  const std::size_t number = name.rfind('.', direction - 1);
  return direction == 0 || number == std::string_view::npos ? name : name.substr(0, number);
}

}  // namespace

std::vector<bool> paired_by_chance(const read::DumpModel& target, const read::DumpModel& golden) {
  std::vector<bool> by_chance(target.ops.size(), false);
  if (!has_modules(target) || !has_modules(golden)) {
    return by_chance;
  }
  std::unordered_map<std::string_view, std::int64_t> more_in_target;
  for (const read::Op& op : target.ops) {
    ++more_in_target[operator_of(target.text(op.name))];
  }
  for (const read::Op& op : golden.ops) {
    --more_in_target[operator_of(golden.text(op.name))];
  }
  for (std::size_t op = 0; op < target.ops.size(); ++op) {
    const std::string_view name = target.text(target.ops[op].name);
    by_chance[op] = !is_module(name) && more_in_target[operator_of(name)] != 0;
  }
  return by_chance;
}

}  // namespace msprobe::compare

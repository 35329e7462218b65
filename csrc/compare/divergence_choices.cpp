// SPDX-License-Identifier: Apache-2.0
// Finds operators whose integers differ, pairs them inside their module, and measures what went into them.
#include "compare/divergence_choices.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "compare/divergence_align.h"

namespace msprobe::compare::divergence {
namespace {

bool is_index(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

bool chooses(const std::vector<Leaf>& leaves) {
  return std::ranges::any_of(leaves,
                             [](const Leaf& leaf) { return leaf.section == Section::kInput && is_floating(leaf.dtype); }) &&
         std::ranges::any_of(leaves, [](const Leaf& leaf) { return leaf.section == Section::kOutput && is_index(leaf.dtype); });
}

// Operators that may have chosen differently; those without a partner by name may have one under another number.
std::vector<std::uint32_t> candidates(const Context& context) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t call = 0; call < context.tree.nodes.size(); ++call) {
    const CallName& name = context.node(call).name;
    if (name.module || name.backward || only_moves(name.qualified)) {
      continue;
    }
    const bool differs = std::ranges::any_of(context.places_of(call), [&](std::uint32_t index) {
      const Place& place = context.input.places[index];
      return place.section == Section::kOutput && place.finding == Finding::kDiffers && is_index(place.target_dtype);
    });
    if ((differs || !context.matched(call)) && chooses(context.input.leaves(Side::kTarget, call))) {
      found.push_back(call);
    }
  }
  return found;
}

// The calls of one operator in the own code of a module, in order.
std::vector<std::uint32_t> calls_in(const Tree& tree, std::uint32_t owner, std::string_view qualified) {
  std::vector<std::uint32_t> calls;
  for (std::uint32_t call = 0; call < tree.nodes.size(); ++call) {
    const Node& node = tree.nodes[call];
    if (node.parent == owner && !node.name.backward && node.name.qualified == qualified) {
      calls.push_back(call);
    }
  }
  std::ranges::sort(calls, {}, [&](std::uint32_t call) { return tree.nodes[call].start; });
  return calls;
}

std::uint32_t partner_of(const Context& context, const Tree& golden, std::uint32_t call) {
  const Node& node = context.node(call);
  const std::uint32_t owner = node.parent == kNoCall ? kNoCall : context.input.golden_of[node.parent];
  if (node.parent != kNoCall && owner == kUnmatched) {
    return kUnmatched;
  }
  const std::vector<std::uint32_t> of_target = calls_in(context.tree, node.parent, node.name.qualified);
  const std::vector<std::uint32_t> of_golden = calls_in(golden, owner, node.name.qualified);
  if (of_target.size() != of_golden.size()) {
    return kUnmatched;
  }
  return of_golden[static_cast<std::size_t>(std::ranges::find(of_target, call) - of_target.begin())];
}

// What works on the choice: the rest of the module that made it; of one that has no modules inside, as a router, the rest of what
// encloses it.
std::uint32_t reach_of(const Context& context, std::uint32_t call) {
  std::uint32_t owner = context.node(call).parent;
  if (owner == kNoCall) {
    return context.node(call).end;
  }
  if (!context.node(owner).has_modules && context.node(owner).parent != kNoCall) {
    owner = context.node(owner).parent;
  }
  return context.node(owner).end;
}

}  // namespace

std::vector<Choice> operator_choices(const Context& context, const std::function<const Tree&()>& golden) {
  std::vector<Choice> choices;
  if (!context.modules || !context.input.leaves) {
    return choices;
  }
  for (const std::uint32_t call : candidates(context)) {
    const std::uint32_t partner = partner_of(context, golden(), call);
    if (partner == kUnmatched) {
      continue;
    }
    Choice choice{context.node(call).end, call, reach_of(context, call), 0, {}};
    for (const Place& place : measure_calls(context.input, call, partner)) {
      if (place.section == Section::kOutput) {
        if (place.finding == Finding::kDiffers && is_index(place.target_dtype)) {
          choice.identities.push_back(place.identity);
        }
      } else if (place.finding == Finding::kDiffers) {
        choice.input_distance = std::numeric_limits<double>::infinity();
      } else {
        choice.input_distance = std::max(choice.input_distance, measure_of(place, false).value_or(0));
      }
    }
    if (!choice.identities.empty()) {
      choices.push_back(std::move(choice));
    }
  }
  std::ranges::sort(choices, {}, &Choice::event);
  return choices;
}

}  // namespace msprobe::compare::divergence

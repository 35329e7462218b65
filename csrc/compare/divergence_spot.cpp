// SPDX-License-Identifier: Apache-2.0
// Fills a Spot: names, numbers, the chain before and after.
#include "compare/divergence_spot.h"

#include <algorithm>
#include <cmath>

#include "compare/divergence_rule.h"

namespace msprobe::compare::divergence {
namespace {

constexpr std::size_t kChain = 4;  // calls told of on each side

void fill_numbers(const Context& context, const Place& place, bool elements, Spot& spot) {
  const Input& input = context.input;
  const std::uint32_t golden_call = input.golden_of[place.call];
  spot.section = place.section;
  spot.finding = place.finding;
  spot.statistic = elements && place.finding == Finding::kDistance ? Statistic::kRelativeL2 : place.statistic;
  if (place.leaf != kNoLeaf || place.finding != Finding::kMissing) {
    spot.target_dtype = dtype_name(place.target_dtype);
  }
  if (place.golden_leaf != kNoLeaf || place.finding != Finding::kMissing) {
    spot.golden_dtype = dtype_name(place.golden_dtype);
  }
  if (!input.leaves) {
    return;
  }
  const auto fill = [&](Side side, std::uint32_t call, std::uint32_t index, std::string& shape, std::optional<double>& number) {
    if (index == kNoLeaf) {
      return;
    }
    const std::vector<Leaf> leaves = input.leaves(side, call);
    const Leaf& leaf = leaves[index];
    spot.path = leaf.path;
    shape = leaf.shape;
    if (spot.statistic < Statistic::kRelativeL2 && leaf.knows(spot.statistic)) {
      number = leaf.numbers[static_cast<std::size_t>(spot.statistic)];
    }
  };
  fill(Side::kGolden, golden_call, place.golden_leaf, spot.golden_shape, spot.golden);
  fill(Side::kTarget, place.call, place.leaf, spot.target_shape, spot.target);
}

Link link_to(const Context& context, std::uint32_t call, bool elements) {
  return {std::string(context.input.target[call].name), context.largest_output(call, elements)};
}

void fill_chain(const Context& context, const Found& found, bool elements, Spot& spot) {
  const std::vector<Event>& events = context.tree.events;
  const std::uint32_t at_call = events[found.event].call;
  const bool backward = context.node(at_call).name.backward;
  const auto tell = [&](std::uint32_t call) {
    return call != at_call && context.walked(call) && context.node(call).name.backward == backward;
  };
  for (std::uint32_t at = found.event; at-- > 0 && spot.before.size() < kChain;) {
    if (events[at].output && tell(events[at].call)) {
      spot.before.push_back(link_to(context, events[at].call, elements));
    }
  }
  std::ranges::reverse(spot.before);
  for (std::size_t at = found.event + 1; at < events.size() && spot.after.size() < kChain; ++at) {
    if (!events[at].output && tell(events[at].call)) {
      spot.after.push_back(link_to(context, events[at].call, elements));
    }
  }
  for (std::uint32_t outer = context.node(at_call).parent; outer != kNoCall; outer = context.node(outer).parent) {
    spot.around.emplace_back(context.input.target[outer].name);
  }
  std::ranges::reverse(spot.around);
}

void fill_where(const Context& context, const Event& event, Spot& spot) {
  const Node& node = context.node(event.call);
  if (event.output) {
    spot.where = node.has_modules ? Where::kTail : Where::kCall;
    spot.code = node.name.qualified;
  } else if (context.outermost(event.call)) {
    spot.where = Where::kCaller;
  } else {
    spot.where = Where::kBefore;
    spot.code = node.parent != kNoCall ? context.node(node.parent).name.qualified
                : node.name.module     ? enclosing_name(node.name.qualified)
                                       : std::string_view();
  }
}

// Float tensors whose elements were not compared.
bool has_inputs_by_statistics(const Context& context, std::uint32_t call) {
  return std::ranges::any_of(context.places_of(call), [&](std::uint32_t index) {
    const Place& place = context.input.places[index];
    return place.section == Section::kInput && place.finding == Finding::kDistance && place.relative_l2 < 0;
  });
}

Spot common(const Context& context, const Found& found, bool elements) {
  Spot spot;
  const Place& place = context.input.places[found.place];
  spot.grade = found.grade;
  spot.call = context.input.target[place.call].name;
  spot.golden_call = context.input.golden[context.input.golden_of[place.call]].name;
  spot.distance = found.distance;
  spot.noise = found.noise;
  spot.ratio = found.distance / found.noise;
  spot.limit = found.limit;
  spot.position = found.event;
  spot.unmatched_before = found.unmatched_before;
  fill_numbers(context, place, elements, spot);
  fill_chain(context, found, elements, spot);
  return spot;
}

}  // namespace

Spot make_spot(const Context& context, const Found& found, bool elements) {
  Spot spot = common(context, found, elements);
  fill_where(context, context.tree.events[found.event], spot);
  const double sure = kFaultFactor * (elements ? kElementsLimit : kLimit);
  spot.may_have_started_earlier = (spot.ratio < sure || (!elements && found.noise >= kSaturated));
  spot.inputs_by_statistics = spot.where == Where::kCall && spot.finding == Finding::kDistance &&
                              has_inputs_by_statistics(context, context.tree.events[found.event].call);
  return spot;
}

Spot make_parameter_spot(const Context& context, const Found& found, bool elements) {
  Spot spot = common(context, found, elements);
  spot.where = Where::kParameter;
  spot.code = context.node(context.input.places[found.place].call).name.qualified;
  return spot;
}

Collectives collectives_before(const Context& context, std::uint32_t event, const Spot* spot) {
  Collectives found;
  // Inside the module that was named, what ran before the operator counts; if none was named, nothing does.
  if (spot != nullptr && spot->where == Where::kCall && context.modules) {
    event = context.node(context.tree.events[event].call).start;
  }
  if (spot != nullptr && spot->op) {
    const auto at = std::ranges::find(context.input.target, spot->op->call, &Call::name);
    event = context.node(static_cast<std::uint32_t>(at - context.input.target.begin())).start;
  }
  std::uint32_t last = 0;
  for (std::uint32_t call = 0; call < context.tree.nodes.size(); ++call) {
    const Node& node = context.node(call);
    if (!is_collective(node.name.qualified)) {
      continue;
    }
    const std::string_view name = context.input.target[call].name;
    if (spot != nullptr && ((spot->op && spot->op->call == name && !spot->op->by_input) ||
                            (spot->call == name && spot->section == Section::kOutput))) {
      found.through = true;
    } else if (node.end < event) {
      ++found.count;
      if (found.last.empty() || node.end > last) {
        last = node.end;
        found.last = name;
      }
    }
  }
  return found;
}

}  // namespace msprobe::compare::divergence

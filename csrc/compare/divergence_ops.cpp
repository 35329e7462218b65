// SPDX-License-Identifier: Apache-2.0
// The operator at fault inside a module: operators of both sides are aligned by their names, whatever their numbers.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "compare/divergence_align.h"
#include "compare/divergence_rule.h"
#include "compare/divergence_spot.h"

namespace msprobe::compare::divergence {
namespace {

constexpr std::size_t kMostOneSided = 8;  // operators told of that one side lacks

bool computes(const Node& node) { return !node.name.module && !node.name.backward && !only_moves(node.name.qualified); }

// The operators that the code at fault called itself, in order. `call` is where the fault is seen.
std::vector<std::uint32_t> own_operators(const Tree& tree, std::uint32_t call, Where where) {
  std::vector<std::uint32_t> own;
  const std::uint32_t owner = where == Where::kBefore ? tree.nodes[call].parent : call;
  if (owner == kNoCall) {
    return own;
  }
  const Node& node = tree.nodes[owner];
  for (std::uint32_t at = node.start; at <= node.end; ++at) {
    const Event& event = tree.events[at];
    if (!event.output && computes(tree.nodes[event.call]) && tree.nodes[event.call].parent == owner) {
      own.push_back(event.call);
    }
  }
  return own;
}

// The same where only names tell what encloses what: these do not say whose an operator is that stands between two modules, so
// it is all that stand there.
std::vector<std::uint32_t> near_operators(const Tree& tree, std::uint32_t call, Where where) {
  std::vector<std::uint32_t> near;
  const bool starts_first = tree.nesting == Nesting::kStartsFirst;
  if (where == Where::kBefore && !starts_first) {
    for (std::uint32_t at = tree.nodes[call].start + 1; at < tree.events.size(); ++at) {
      const Event& event = tree.events[at];
      const Node& node = tree.nodes[event.call];
      if (node.name.module && event.output) {
        break;
      }
      if (!event.output && computes(node)) {
        near.push_back(event.call);
      }
    }
    return near;
  }
  const std::uint32_t from = where == Where::kBefore ? tree.nodes[call].start : tree.nodes[call].end;
  for (std::uint32_t at = from; at-- > 0;) {
    const Event& event = tree.events[at];
    const Node& node = tree.nodes[event.call];
    if (node.name.module && (!event.output || !starts_first)) {
      break;
    }
    if (!event.output && computes(node)) {
      near.push_back(event.call);
    }
  }
  std::ranges::reverse(near);
  return near;
}

std::vector<std::uint32_t> operators_at_fault(const Tree& tree, std::uint32_t call, Where where) {
  return tree.nesting == Nesting::kStamps ? own_operators(tree, call, where) : near_operators(tree, call, where);
}

CallList listed(const Tree& tree, Side side, std::vector<std::uint32_t> calls) {
  CallList list{side, std::move(calls), {}};
  list.names.reserve(list.calls.size());
  for (const std::uint32_t call : list.calls) {
    list.names.push_back(tree.nodes[call].name.qualified);
  }
  return list;
}

std::vector<std::string_view> families(std::vector<std::string_view> names) {
  std::ranges::transform(names, names.begin(), family_of);
  return names;
}

// One side of the comparison of two lists: all its operators, those of the code at fault, and where the difference is seen.
struct Listed {
  const Tree& tree;
  const std::vector<std::uint32_t>& own;
  std::uint32_t event;
};

// Whether two devices record an operator's work differently, so that one side alone having it says nothing: the other side never
// records it, and this one called it before the code at fault too, where all was fine.
bool is_way_of_recording(const Listed& side, const Tree& other, std::uint32_t call) {
  const std::string_view family = family_of(side.tree.nodes[call].name.qualified);
  const auto is_of_family = [&](const Node& node) { return computes(node) && family_of(node.name.qualified) == family; };
  if (std::ranges::any_of(other.nodes, is_of_family)) {
    return false;
  }
  for (std::uint32_t i = 0; i < side.tree.nodes.size(); ++i) {
    const Node& node = side.tree.nodes[i];
    if (node.end < side.event && is_of_family(node) && std::ranges::find(side.own, i) == side.own.end()) {
      return true;
    }
  }
  return false;
}

void tell_one_sided(const std::vector<Call>& calls, const Listed& side, const Tree& other,
                    const std::vector<std::uint32_t>& unpaired, std::vector<std::string>& told) {
  for (const std::uint32_t i : unpaired) {
    if (told.size() < kMostOneSided && !is_way_of_recording(side, other, side.own[i])) {
      told.emplace_back(calls[side.own[i]].name);
    }
  }
}

}  // namespace

OperatorDistance operator_distance(const Input& input, std::uint32_t target, std::uint32_t golden) {
  OperatorDistance largest;
  for (const Place& place : measure_calls(input, target, golden)) {
    const std::optional<double> measure = measure_of(place, false);
    if (measure) {
      double& of_section = place.section == Section::kOutput ? largest.output : largest.input;
      of_section = std::max(of_section, *measure);
    }
  }
  return largest;
}

void find_operator(const Context& context, const Tree& golden, const Found& found, Spot& spot) {
  if (!context.modules || !context.input.leaves || spot.where == Where::kCaller || spot.where == Where::kParameter) {
    return;
  }
  const std::uint32_t call = context.input.places[found.place].call;
  const CallList target_list = listed(context.tree, Side::kTarget, operators_at_fault(context.tree, call, spot.where));
  const CallList golden_list =
      listed(golden, Side::kGolden, operators_at_fault(golden, context.input.golden_of[call], spot.where));
  const std::vector<std::uint32_t>& of_target = target_list.calls;
  const std::vector<std::uint32_t>& of_golden = golden_list.calls;
  const Alignment alignment = align(families(target_list.names), families(golden_list.names));
  const Node& golden_node = golden.nodes[context.input.golden_of[call]];
  const Listed target_side{context.tree, of_target, found.event};
  const Listed golden_side{golden, of_golden, spot.where == Where::kBefore ? golden_node.start : golden_node.end};
  tell_one_sided(context.input.target, target_side, golden, alignment.only_target, spot.only_target);
  tell_one_sided(context.input.golden, golden_side, context.tree, alignment.only_golden, spot.only_golden);

  // The module whose code it is, for what goes into it; where it was not recorded, only the floor counts.
  const std::uint32_t owner = spot.where == Where::kBefore ? context.node(call).parent : call;
  double noise = kNoiseFloor * context.unit;
  for (const std::uint32_t index : owner == kNoCall ? std::span<const std::uint32_t>() : context.places_of(owner)) {
    const Place& place = context.input.places[index];
    const std::optional<double> measure = place.section == Section::kInput ? measure_of(place, false) : std::nullopt;
    if (measure && std::isfinite(*measure)) {
      noise = std::max(noise, *measure);
    }
  }
  std::optional<OperatorSpot> steepest;
  for (const auto& [i, j] : sure_pairs(context.input, target_list, golden_list)) {
    if (context.tree.nesting == Nesting::kStamps && context.node(of_target[i]).start > found.event) {
      break;  // it ran after what was seen
    }
    const OperatorDistance distance = operator_distance(context.input, of_target[i], of_golden[j]);
    OperatorSpot candidate{std::string(context.input.target[of_target[i]].name),
                           std::string(context.input.golden[of_golden[j]].name),
                           false,
                           false,
                           distance.output,
                           noise};
    if (distance.input > kOperatorInputLimit * noise) {
      candidate.by_input = true;
      candidate.distance = distance.input;
      candidate.clear = true;
    } else if (distance.output > kOperatorOutputLimit * noise) {
      candidate.clear = true;
    }
    if (candidate.clear) {
      spot.op = candidate;
      // An operator that works on each element by itself would show another order at its output no more than at its input.
      spot.inputs_by_statistics = spot.inputs_by_statistics && is_product(context.node(of_target[i]).name.qualified);
      return;
    }
    if (distance.output > 0 && (!steepest || distance.output > steepest->distance)) {
      steepest = candidate;
    }
  }
  spot.op = steepest;
}

}  // namespace msprobe::compare::divergence

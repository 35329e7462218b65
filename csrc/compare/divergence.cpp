// SPDX-License-Identifier: Apache-2.0
// Puts the verdict together: parameters first, then the walks.
#include "compare/divergence.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "compare/divergence_align.h"
#include "compare/divergence_choices.h"
#include "compare/divergence_rule.h"
#include "compare/divergence_spot.h"
#include "compare/divergence_walk.h"

namespace msprobe::compare::divergence {
namespace {

constexpr std::size_t kMostParameters = 10;

const Spot* earlier(const Spot* one, const Spot* other) {
  if (one == nullptr || other == nullptr) {
    return one != nullptr ? one : other;
  }
  if (one->position != other->position) {
    return one->position < other->position ? one : other;
  }
  return one->grade >= other->grade ? one : other;
}

bool comparable(const Place& place) {
  const auto floats = [](DType dtype) { return is_floating(dtype) || is_complex(dtype); };
  const bool same_nature = (floats(place.target_dtype) && floats(place.golden_dtype)) ||
                           (is_integral(place.target_dtype) && is_integral(place.golden_dtype));
  return same_nature && place.finding != Finding::kShape && place.finding != Finding::kMissing;
}

// Weights are the same numbers on both sides but for the cast to the coarser type.
std::optional<Found> judge_parameter(const Context& context, const Place& place, bool& by_elements) {
  Found found;
  found.noise = context.unit;
  found.limit = kParameterLimit;
  const std::optional<double> by_numbers =
      place.finding == Finding::kDiffers ? measure_of({.finding = Finding::kShape}, false) : measure_of(place, false);
  const double by_l2 = measure_of(place, true).value_or(0);
  found.distance = by_numbers.value_or(0);
  by_elements = found.distance <= kParameterLimit * context.unit && by_l2 > found.distance;
  found.distance = by_elements ? by_l2 : found.distance;
  if (found.distance <= kParameterLimit * context.unit) {
    return std::nullopt;
  }
  found.grade = std::isinf(found.distance) ? Grade::kFault : Grade::kSuspect;
  return found;
}

void judge_parameters(const Context& context, Verdict& verdict) {
  std::set<std::pair<std::string_view, std::uint32_t>> seen;  // a module that is called twice shows its parameters twice
  for (std::uint32_t at = 0; at < context.tree.events.size(); ++at) {
    const Event& event = context.tree.events[at];
    if (event.output || !context.matched(event.call)) {
      continue;
    }
    for (const std::uint32_t index : context.places_of(event.call)) {
      const Place& place = context.input.places[index];
      const std::uint32_t leaf = place.leaf != kNoLeaf ? place.leaf : place.golden_leaf;
      if (place.section != Section::kParameter || !seen.emplace(context.node(event.call).name.qualified, leaf).second) {
        continue;
      }
      if (!comparable(place)) {
        ++verdict.parameters_not_comparable;
        continue;
      }
      ++verdict.parameters_judged;
      bool by_elements = false;
      std::optional<Found> found = judge_parameter(context, place, by_elements);
      if (found && ++verdict.parameters_off <= static_cast<std::int64_t>(kMostParameters)) {
        found->event = at;
        found->place = index;
        verdict.parameters.push_back(make_parameter_spot(context, *found, by_elements));
      }
    }
  }
}

void find_largest(const Context& context, bool elements, Walk& walk) {
  for (const Place& place : context.input.places) {
    const std::optional<double> measure =
        place.section == Section::kOutput && context.walked(place.call) ? measure_of(place, elements) : std::nullopt;
    if (measure && std::isfinite(*measure) && *measure > walk.largest) {
      walk.largest = *measure;
      walk.largest_at = context.input.target[place.call].name;
    }
  }
}

class Finder {
 public:
  Finder(const Context& context, const Options& options)
      : context_(context),
        options_(options),
        choices_(operator_choices(context, [this]() -> const Tree& { return golden(); })) {}

  Walk walk(bool elements, Verdict& verdict) {
    Walker walker(context_, choices_, elements, options_.hints);
    walker.run(false);
    if (!walker.fault && !walker.suspect) {
      walker.run(true);
    }
    Walk walk;
    if (walker.suspect) {
      walk.suspect = spot(*walker.suspect, elements);
    }
    if (walker.fault) {
      walk.fault = spot(*walker.fault, elements);
    }
    for (const Found& hint : walker.hints) {
      walk.hints.push_back(make_spot(context_, hint, elements));
    }
    walk.noise_end = walker.noise;
    if (walker.saturated) {
      walk.saturated_at = context_.input.target[*walker.saturated].name;
    }
    find_largest(context_, elements, walk);
    if (!elements) {
      verdict.discrete = walker.discrete;
      if (walker.first_discrete) {
        verdict.first_discrete = context_.input.target[*walker.first_discrete].name;
      }
      verdict.calls = walker.calls;
      verdict.judged = walker.judged;
      verdict.skipped = walker.skipped;
      verdict.unmatched = walker.unmatched;
    }
    return walk;
  }

 private:
  Spot spot(const Found& found, bool elements) {
    Spot made = make_spot(context_, found, elements);
    find_operator(context_, golden(), found, made);
    return made;
  }
  const Tree& golden() {
    if (!golden_) {
      golden_ = build_tree(context_.input.golden);
    }
    return *golden_;
  }

  const Context& context_;
  const Options& options_;
  std::optional<Tree> golden_;  // made when operators are looked for
  std::vector<Choice> choices_;
};

}  // namespace

const Spot* Walk::first() const { return earlier(suspect ? &*suspect : nullptr, fault ? &*fault : nullptr); }

const Spot* Verdict::first() const {
  if (!parameters.empty()) {
    return &parameters.front();
  }
  return earlier(statistics.first(), elements ? elements->first() : nullptr);
}

Verdict find(const Input& input, const Options& options) {
  std::optional<Context> context(std::in_place, input);
  std::optional<Input> by_order;
  if (!context->modules) {
    by_order = realigned(input);
    if (by_order) {
      context.emplace(*by_order);
    }
  }
  Verdict verdict;
  verdict.target_type = context->target_type;
  verdict.golden_type = context->golden_type;
  verdict.unit = context->unit;
  verdict.ordered = context->tree.nesting == Nesting::kStamps;
  judge_parameters(*context, verdict);
  Finder finder(*context, options);
  verdict.statistics = finder.walk(false, verdict);
  if (std::ranges::any_of(context->input.places, [](const Place& place) { return place.relative_l2 >= 0; })) {
    verdict.elements = finder.walk(true, verdict);
  }
  const Spot* first = earlier(verdict.statistics.first(), verdict.elements ? verdict.elements->first() : nullptr);
  const auto event =
      first != nullptr ? static_cast<std::uint32_t>(first->position) : static_cast<std::uint32_t>(context->tree.events.size());
  const Collectives collectives = collectives_before(*context, event, first);
  verdict.collectives = collectives.count;
  verdict.last_collective = collectives.last;
  verdict.through_collective = collectives.through;
  verdict.backward = first != nullptr && parse_call_name(first->call).backward;
  return verdict;
}

}  // namespace msprobe::compare::divergence

// SPDX-License-Identifier: Apache-2.0
// The rule: a place is named where it differs by more than a few times what any earlier output did.
#include "compare/divergence_walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "compare/divergence_rule.h"

namespace msprobe::compare::divergence {
namespace {

constexpr std::size_t kMostHints = 20;

// Arguments by these names never come out of a choice between nearly equal floats; code that knows no floats makes them.
constexpr std::array<std::string_view, 8> kExactArguments{"position",  "input_ids",    "token_type", "attention_mask",
                                                          "attn_mask", "padding_mask", "seq_len",    "seqlen"};
// The same for modules that take them.
constexpr std::array<std::string_view, 4> kExactModules{"embed", "rotary", "rope", "position"};

template <class Words>
bool has_word(std::string_view text, const Words& words) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::ranges::any_of(words, [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

bool is_integer(const Place& place) { return place.finding == Finding::kSame || place.finding == Finding::kDiffers; }

// The list and its member, of a member of a module list: layers.3 -> layers.
std::string_view list_of(std::string_view qualified) {
  const std::string_view member = qualified.substr(qualified.rfind('.') + 1);
  return !member.empty() && member.find_first_not_of("0123456789") == member.npos ? enclosing_name(qualified)
                                                                                  : std::string_view();
}

bool same_but_rows(std::string_view target_shape, std::string_view golden_shape) {
  const std::vector<std::int64_t> target = sizes_of(target_shape);
  const std::vector<std::int64_t> golden = sizes_of(golden_shape);
  return !target.empty() && target.size() == golden.size() && std::equal(target.begin() + 1, target.end(), golden.begin() + 1);
}

}  // namespace

Walker::Walker(const Context& context, std::span<const Choice> choices, bool elements, bool hints)
    : noise(kNoiseFloor * context.unit), context_(context), choices_(choices), elements_(elements), wants_hints_(hints) {}

void Walker::run(bool backward) {
  const std::vector<Event>& events = context_.tree.events;
  auto choice = choices_.begin();
  for (std::uint32_t at = 0; at < events.size() && !fault; ++at) {
    const Event& event = events[at];
    if (!backward && choice != choices_.end() && choice->event == at) {
      take(*choice++);
    }
    const CallName& name = context_.node(event.call).name;
    if (name.backward != backward || name.module != context_.modules) {
      continue;
    }
    if (!context_.matched(event.call)) {
      if (event.output && context_.walked(event.call)) {
        ++unmatched;
        ++unmatched_before_;
      }
      continue;
    }
    if (event.output && context_.walked(event.call)) {
      ++calls;
    }
    look_at(at, event);
  }
}

void Walker::look_at(std::uint32_t at, const Event& event) {
  const bool moves = !context_.walked(event.call);  // then only where integers come from matters
  const Section section = event.output ? Section::kOutput : Section::kInput;
  Found found;
  double largest = 0;
  bool any = false;
  for (const std::uint32_t index : context_.places_of(event.call)) {
    const Place& place = context_.input.places[index];
    if (place.section != section) {
      continue;
    }
    const std::optional<double> measure = judge(at, event, place);
    if (moves) {
      continue;
    }
    judged += measure || is_integer(place) ? 1 : 0;
    skipped += measure || is_integer(place) ? 0 : 1;
    if (!measure) {
      continue;
    }
    any = true;
    seen_floats_ = seen_floats_ || event.output;
    if (std::isfinite(*measure)) {
      largest = std::max(largest, *measure);
    }
    if (found.limit == 0 || *measure > found.distance) {
      found.place = index;
      found.distance = *measure;
      found.limit = 1;
    }
  }
  if (!any) {
    return;
  }
  const bool excused = in_scope(at);
  found.event = at;
  found.noise = noise;
  found.limit = limit_at(at);
  found.unmatched_before = unmatched_before_;
  const double ratio = found.distance / noise;
  if (ratio > found.limit) {
    const bool choice_explains = after_choice(at) && found.distance < kFaultFactor * kDiscreteFloor;
    found.grade = ratio >= kFaultFactor * found.limit && !choice_explains ? Grade::kFault : Grade::kSuspect;
  } else if (wants_hints_ && !elements_ && ratio > kHintLimit * found.limit / kLimit) {
    found.grade = Grade::kHint;
  }
  note(found);
  if (event.output && found.grade < Grade::kSuspect) {
    unmatched_before_ = 0;
  }
  // What a suspect brought is noise to all that follows, seen in an input or in an output. Of an excused block it is only what
  // leaves it that others have to live with.
  const bool leaves_scope = scope_ == at;
  if ((event.output && (!excused || leaves_scope || scope_is_endless_)) || found.grade == Grade::kSuspect) {
    noise = std::max(noise, largest);
    if (!elements_ && !saturated && noise >= kSaturated) {
      saturated = event.call;
    }
  }
}

double Walker::limit_at(std::uint32_t at) const {
  const double limit = elements_ ? kElementsLimit : kLimit;
  const bool noise_flips = context_.unit > kNoiseFlipsAbove;
  if (!in_scope(at)) {
    return limit * (scope_ && noise_flips ? kAfterDiscreteFactor : 1);
  }
  if (elements_) {
    return limit * kElementsDiscreteFactor;
  }
  return std::max(limit * kDiscreteFactor, noise_flips ? kDiscreteFloor / noise : 0);
}

// The measure of a place; for integers and excused differences nothing, unless they are hard.
std::optional<double> Walker::judge(std::uint32_t at, const Event& event, const Place& place) {
  constexpr double kHard = std::numeric_limits<double>::infinity();
  switch (place.finding) {
    case Finding::kDiffers:
      if (produced_.contains(place.identity)) {
        return std::nullopt;
      }
      produced_.insert(place.identity);
      if (!context_.walked(event.call)) {
        return std::nullopt;
      }
      if (integers_are_hard(event, place)) {
        return kHard;
      }
      open_scope(at, event.call, chosen_.contains(place.identity));
      return std::nullopt;
    case Finding::kShape:
      if (!shape_is_choice(event, place)) {
        return kHard;
      }
      if (!in_scope(at)) {
        open_scope(at, event.call, after_choice(at));
      }
      return std::nullopt;
    case Finding::kGoldenZero:
      return zero_is_noise(event, place) ? std::nullopt : std::optional(kHard);
    default:
      return measure_of(place, elements_);
  }
}

// Integers that differ are a fault where no choice between floats can have made them; else they are such a choice. That integers
// of equal numbers went in says nothing: their numbers do not show an exchange.
bool Walker::integers_are_hard(const Event& event, const Place& place) const {
  if (event.output) {
    return false;
  }
  if (context_.outermost(event.call) || !seen_floats_) {
    return true;
  }
  if (in_scope(context_.node(event.call).start)) {
    return false;
  }
  const std::string_view name = context_.input.target[event.call].name;
  const std::string_view qualified = context_.node(event.call).name.qualified;
  const std::string_view member_and_class = name.substr(name.find(qualified) + enclosing_name(qualified).size());
  if (has_word(member_and_class, kExactModules)) {
    return true;
  }
  if (!context_.input.leaves || place.leaf == kNoLeaf) {
    return false;
  }
  const std::string path(context_.input.leaves(Side::kTarget, event.call)[place.leaf].path);
  return has_word(path, kExactArguments);
}

// Whether another shape is another choice of rows: the experts of a router get as many tokens as it gives them. Experts are
// members of one list, and each has a number of rows of its own.
bool Walker::shape_is_choice(const Event& event, const Place& place) const {
  const Node& node = context_.node(event.call);
  if (!context_.input.leaves || place.leaf == kNoLeaf || place.golden_leaf == kNoLeaf) {
    return false;
  }
  const std::string_view list = list_of(node.name.qualified);
  const auto golden_shape = [&](std::uint32_t call, std::uint32_t leaf) {
    return std::string(context_.input.leaves(Side::kGolden, context_.input.golden_of[call])[leaf].shape);
  };
  const std::string golden = golden_shape(event.call, place.golden_leaf);
  if (!same_but_rows(context_.input.leaves(Side::kTarget, event.call)[place.leaf].shape, golden)) {
    return false;
  }
  if (in_scope(node.start) || after_choice(node.start)) {
    return true;
  }
  if (list.empty() || event.output || !context_.modules) {
    return false;
  }
  for (std::uint32_t call = 0; call < context_.tree.nodes.size(); ++call) {
    const Node& other = context_.node(call);
    if (call == event.call || other.parent != node.parent || list_of(other.name.qualified) != list || !context_.matched(call)) {
      continue;
    }
    for (const std::uint32_t index : context_.places_of(call)) {
      const Place& sibling = context_.input.places[index];
      if (sibling.section == Section::kInput && sibling.golden_leaf == place.golden_leaf &&
          golden_shape(call, sibling.golden_leaf) != golden) {
        return true;
      }
    }
  }
  return false;
}

// Golden is all zero: what the target has instead may be the rounding of what went in.
bool Walker::zero_is_noise(const Event& event, const Place& place) const {
  double rms = 0;
  const auto look = [&](std::uint32_t call) {
    for (const std::uint32_t index : context_.places_of(call)) {
      const Place& other = context_.input.places[index];
      if (other.section == Section::kInput && std::isfinite(other.golden_rms)) {
        rms = std::max(rms, static_cast<double>(other.golden_rms));
      }
    }
  };
  look(event.call);
  const std::uint32_t parent = context_.node(event.call).parent;
  if (!event.output && parent != kNoCall) {
    look(parent);
  }
  return place.target_rms >= 0 && place.target_rms <= context_.unit * rms;
}

void Walker::count(std::uint32_t call) {
  ++discrete;
  if (!first_discrete) {
    first_discrete = call;
  }
}

// What an operator chose differently although its inputs were fine explains what comes of it: that is no fault. It is told all the
// same, since a jump there may have another cause.
void Walker::take(const Choice& choice) {
  if (choice.input_distance > kOperatorInputLimit * noise) {
    return;
  }
  count(choice.call);
  chosen_.insert(choice.identities.begin(), choice.identities.end());
  chosen_until_ = std::max(chosen_until_.value_or(0), choice.until);
}

// The rest of the block in which a choice was made is excused: it works on what was chosen. `counted`: an operator's choice, of
// which this is what the module made of it.
void Walker::open_scope(std::uint32_t at, std::uint32_t call, bool counted) {
  if (!counted) {
    count(call);
  }
  const Node& node = context_.node(call);
  const std::vector<Event>& events = context_.tree.events;
  auto end = at;
  if (node.parent != kNoCall) {
    end = context_.node(node.parent).end;
  } else if (!context_.modules) {
    end = static_cast<std::uint32_t>(events.size());
    scope_is_endless_ = true;
  } else {
    const std::string_view block = enclosing_name(node.name.qualified);
    while (!block.empty() && end + 1 < events.size() && encloses(block, context_.node(events[end + 1].call).name.qualified)) {
      ++end;
    }
  }
  scope_ = scope_ ? std::max(*scope_, end) : end;
}

void Walker::note(const Found& found) {
  if (found.grade == Grade::kFault) {
    fault = found;
  } else if (found.grade == Grade::kSuspect && !suspect) {
    suspect = found;
  } else if (found.grade == Grade::kHint && hints.size() < kMostHints) {
    hints.push_back(found);
  }
}

}  // namespace msprobe::compare::divergence

// SPDX-License-Identifier: Apache-2.0
// The walk over inputs and outputs in the order in which they were seen, and what it needs at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "compare/divergence.h"
#include "compare/divergence_calls.h"

namespace msprobe::compare::divergence {

// One comparison, put in order. Immutable.
struct Context {
  explicit Context(const Input& compared);

  const Input& input;
  Tree tree;                               // of the target
  bool modules = false;                    // modules are walked; else operators
  std::vector<std::uint32_t> first_place;  // of each call, in `places`; one more at the end
  std::vector<std::uint32_t> places;       // indices into input.places, by call
  DType target_type = DType::kUnknown;
  DType golden_type = DType::kUnknown;
  double unit = 0;

  [[nodiscard]] const Node& node(std::uint32_t call) const { return tree.nodes[call]; }
  [[nodiscard]] std::span<const std::uint32_t> places_of(std::uint32_t call) const {
    return {places.data() + first_place[call], first_place[call + 1] - first_place[call]};
  }
  [[nodiscard]] bool matched(std::uint32_t call) const { return input.golden_of[call] != kUnmatched; }
  // Whether it takes part in the walk, partner or not.
  [[nodiscard]] bool walked(std::uint32_t call) const;
  // The largest measure of the outputs of a call (infinite if hard), or nothing.
  [[nodiscard]] std::optional<double> largest_output(std::uint32_t call, bool elements) const;
  // Whether it is all there was: what goes into it comes from outside.
  [[nodiscard]] bool outermost(std::uint32_t call) const;
};

// The relative L2 error, or E; infinite if hard; nothing if it says nothing.
std::optional<double> measure_of(const Place& place, bool elements);

// A place above its limit.
struct Found {
  Grade grade = Grade::kNone;
  std::uint32_t event = 0;
  std::uint32_t place = 0;
  double distance = 0;
  double noise = 0;
  double limit = 0;
  std::int64_t unmatched_before = 0;
};

// Integers that an operator inside the walked modules chose differently.
struct Choice {
  std::uint32_t event = 0;  // its output
  std::uint32_t call = 0;
  std::uint32_t until = 0;    // the last event that works on what was chosen
  double input_distance = 0;  // the largest of its inputs; infinite if hard
  std::vector<std::uint64_t> identities;
};

class Walker {
 public:
  // `elements`: by the relative L2 error; else by E. `choices`: by event.
  Walker(const Context& context, std::span<const Choice> choices, bool elements, bool hints);

  // Stops at the first fault. Once for the forward calls, and again for the backward ones: the noise is carried over.
  void run(bool backward);

  std::optional<Found> suspect;
  std::optional<Found> fault;
  std::vector<Found> hints;
  double noise = 0;
  std::optional<std::uint32_t> saturated;  // call
  std::int64_t discrete = 0;
  std::optional<std::uint32_t> first_discrete;  // call
  std::int64_t calls = 0;
  std::int64_t judged = 0;
  std::int64_t skipped = 0;
  std::int64_t unmatched = 0;

 private:
  void look_at(std::uint32_t at, const Event& event);
  [[nodiscard]] bool integers_are_hard(const Event& event, const Place& place) const;
  [[nodiscard]] bool shape_is_choice(const Event& event, const Place& place) const;
  [[nodiscard]] bool zero_is_noise(const Event& event, const Place& place) const;
  [[nodiscard]] double limit_at(std::uint32_t at) const;
  [[nodiscard]] bool in_scope(std::uint32_t at) const { return scope_ && at <= *scope_; }
  [[nodiscard]] bool after_choice(std::uint32_t at) const { return chosen_until_ && at <= *chosen_until_; }
  void take(const Choice& choice);
  void count(std::uint32_t call);
  std::optional<double> judge(std::uint32_t at, const Event& event, const Place& place);
  void open_scope(std::uint32_t at, std::uint32_t call, bool counted = false);
  void note(const Found& found);

  const Context& context_;
  std::span<const Choice> choices_;
  bool elements_;
  bool wants_hints_;
  std::optional<std::uint32_t> scope_;          // the last event that a discrete choice excuses
  bool scope_is_endless_ = false;               // nothing tells where it ends: then noise must go on growing
  std::optional<std::uint32_t> chosen_until_;   // the last event that works on what an operator chose differently
  std::unordered_set<std::uint64_t> chosen_;    // identities of what operators chose
  std::unordered_set<std::uint64_t> produced_;  // identities of integers that differ and whose origin is known
  std::int64_t unmatched_before_ = 0;
  bool seen_floats_ = false;  // in an output; before, there is nothing to choose between
};

}  // namespace msprobe::compare::divergence

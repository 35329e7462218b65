// SPDX-License-Identifier: Apache-2.0
// Pairs operators of two runs by their order: a call more on one side does not shift the numbers of all that follow.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/divergence.h"
#include "compare/divergence_walk.h"

namespace msprobe::compare::divergence {

struct Alignment {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // indices of equal names, both rising
  std::vector<std::uint32_t> only_target;
  std::vector<std::uint32_t> only_golden;
};

// A longest common subsequence. Lists that have next to nothing in common are paired by the number of each name instead.
Alignment align(const std::vector<std::string_view>& target, const std::vector<std::string_view>& golden);

// A list of calls of one side, with the names by which they are aligned.
struct CallList {
  Side side = Side::kTarget;
  std::vector<std::uint32_t> calls;
  std::vector<std::string_view> names;
};

// Pairs that are sure: all, if the names are the same; else those that are equal in the shapes of their tensors as well, and that
// stand between two such pairs. (One side may do in two operators what the other does in one, and which of several of a name
// belongs to which is not sure beside a gap.) Indices into the lists.
std::vector<std::pair<std::uint32_t, std::uint32_t>> sure_pairs(const Input& input, const CallList& target,
                                                                const CallList& golden);

// Places of two calls whose tensors are paired by section and path, or by their order where paths differ.
std::vector<Place> measure_calls(const Input& input, std::uint32_t target, std::uint32_t golden);

struct OperatorDistance {
  double input = 0;
  double output = 0;
};
OperatorDistance operator_distance(const Input& input, std::uint32_t target, std::uint32_t golden);

// The input with operators paired by align() instead of by their numbers; nothing if that pairs the same ones. For dumps of
// operators alone.
std::optional<Input> realigned(const Input& input);

}  // namespace msprobe::compare::divergence

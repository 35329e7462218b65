// SPDX-License-Identifier: Apache-2.0
// Puts a comparison in order for the walk: places by call, what is walked, the unit of its noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compare/divergence_rule.h"
#include "compare/divergence_walk.h"

namespace msprobe::compare::divergence {
namespace {

using DtypeCounts = std::array<std::int64_t, static_cast<std::size_t>(DType::kUnknown) + 1>;

// The type of most outputs; of two as frequent the coarser one.
DType most_frequent(const DtypeCounts& counts) {
  auto most = DType::kUnknown;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (counts[i] > largest || (counts[i] == largest && largest > 0 && unit_of(dtype) > unit_of(most))) {
      most = dtype;
      largest = counts[i];
    }
  }
  return most;
}

}  // namespace

Context::Context(const Input& compared) : input(compared), tree(build_tree(compared.target)) {
  first_place.assign(input.target.size() + 1, 0);
  for (const Place& place : input.places) {
    ++first_place[place.call + 1];
    const Node& owner = node(place.call);
    modules = modules || (owner.name.module && !owner.name.backward && place.section != Section::kParameter);
  }
  for (std::size_t call = 1; call < first_place.size(); ++call) {
    first_place[call] += first_place[call - 1];
  }
  places.resize(input.places.size());
  std::vector<std::uint32_t> next(first_place.begin(), first_place.end() - 1);
  for (std::uint32_t i = 0; i < input.places.size(); ++i) {
    places[next[input.places[i].call]++] = i;
  }

  DtypeCounts of_target{};
  DtypeCounts of_golden{};
  for (const Place& place : input.places) {
    const auto floats = [](DType dtype) { return is_floating(dtype) || is_complex(dtype); };
    if (place.section == Section::kOutput && walked(place.call) && floats(place.target_dtype) && floats(place.golden_dtype)) {
      ++of_target[static_cast<std::size_t>(place.target_dtype)];
      ++of_golden[static_cast<std::size_t>(place.golden_dtype)];
    }
  }
  target_type = most_frequent(of_target);
  golden_type = most_frequent(of_golden);
  unit = std::max(unit_of(target_type), unit_of(golden_type));
}

bool Context::walked(std::uint32_t call) const {
  const CallName& name = node(call).name;
  return name.module == modules && (name.module || !only_moves(name.qualified));
}

std::optional<double> measure_of(const Place& place, bool elements) {
  if (is_hard(place.finding)) {
    return std::numeric_limits<double>::infinity();
  }
  if (place.finding != Finding::kDistance) {
    return std::nullopt;
  }
  if (!elements) {
    return place.distance;
  }
  return place.relative_l2 >= 0 && std::isfinite(place.relative_l2) ? std::optional<double>(place.relative_l2) : std::nullopt;
}

std::optional<double> Context::largest_output(std::uint32_t call, bool elements) const {
  std::optional<double> largest;
  for (const std::uint32_t i : places_of(call)) {
    const Place& place = input.places[i];
    const std::optional<double> measure = place.section == Section::kOutput ? measure_of(place, elements) : std::nullopt;
    if (measure && (!largest || *measure > *largest)) {
      largest = measure;
    }
  }
  return largest;
}

bool Context::outermost(std::uint32_t call) const {
  const Node& at = node(call);
  return at.parent == kNoCall && at.name.module &&
         (at.has_modules || at.name.qualified == kRootName || at.name.qualified.empty());
}

}  // namespace msprobe::compare::divergence

// SPDX-License-Identifier: Apache-2.0
// What is told of a place that was found: the code at fault, the chain of calls around it, the operator inside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/divergence.h"
#include "compare/divergence_walk.h"

namespace msprobe::compare::divergence {

Spot make_spot(const Context& context, const Found& found, bool elements);

// A parameter that differs; found.event is the first event of its module's call.
Spot make_parameter_spot(const Context& context, const Found& found, bool elements);

// Names the operator at fault among those that the code at fault called itself (level mix), and the operators that only one side
// has. `tree` is the golden side's.
void find_operator(const Context& context, const Tree& golden, const Found& found, Spot& spot);

// How many collectives ended before `event`.
struct Collectives {
  std::int64_t count = 0;
  std::string last;
  bool through = false;
};
Collectives collectives_before(const Context& context, std::uint32_t event, const Spot* spot);

}  // namespace msprobe::compare::divergence

// SPDX-License-Identifier: Apache-2.0
// Discrete choices (top-k, argmax, sort) that operators made differently inside the modules that are walked.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compare/divergence_walk.h"

namespace msprobe::compare::divergence {

// By event, rising. Only operators with float inputs make choices, and only integers that can be indices are choices: quantised
// values and truth values differ wherever noise does. Partners are the n-th of a name in the same module, if both sides call it
// as often: their numbers shift where one side has a call more. `golden` is asked for only if there is something to pair.
std::vector<Choice> operator_choices(const Context& context, const std::function<const Tree&()>& golden);

}  // namespace msprobe::compare::divergence

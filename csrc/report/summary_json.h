// SPDX-License-Identifier: Apache-2.0
// What a comparison found, as JSON for programs.
#pragma once

#include <string>

#include "compare/run.h"

namespace msprobe::report {

// One object. python/msprobe/_compare.py reads it and says what its members are.
std::string summary_json(const compare::Summary& summary);

}  // namespace msprobe::report

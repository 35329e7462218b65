// SPDX-License-Identifier: Apache-2.0
// Operators that have a partner by their name and the number of their call, though it need not be the same call.
#pragma once

#include <vector>

#include "read/dump_model.h"

namespace msprobe::compare {

// By target's ops. Devices and versions make their copies and casts in other places, and from the first one on the numbers of that operator's
// calls mean other calls: so it is where the two sides call an operator a different number of times. Where no side has modules there is
// nothing else to go by, and every pair counts.
std::vector<bool> paired_by_chance(const read::DumpModel& target, const read::DumpModel& golden);

}  // namespace msprobe::compare

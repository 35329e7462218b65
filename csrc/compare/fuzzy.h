// SPDX-License-Identifier: Apache-2.0
// Fuzzy matching: names are equal if they are but for the number of the call, and matches keep the order of both files.
#pragma once

#include <cstdint>
#include <vector>

#include "read/dump_model.h"

namespace msprobe::compare {

// For each leaf of target its golden leaf, or ~0. Takes time in proportion to the number of rows.
std::vector<std::uint32_t> fuzzy_partners(const read::DumpModel& target, const read::DumpModel& golden);

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// The rows that a reader should look at first.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/block.h"
#include "compare/run.h"

namespace msprobe::compare {

inline constexpr std::size_t kWorstRows = 10;

// Errors before warnings, pairs of which something is known before those by chance, large before small, then as they come.
bool is_worse(const WorstRow& a, const WorstRow& b);

// Puts the row among the worst if it belongs there. `number` is its place in the table.
void keep_worst(std::vector<WorstRow>& worst, const Comparison& comparison, const ComparedBlock& block, std::size_t row,
                std::uint64_t number);

// The worst of several pairs.
void keep_worst(std::vector<WorstRow>& worst, const std::vector<WorstRow>& more);

}  // namespace msprobe::compare

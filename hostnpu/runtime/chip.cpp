// SPDX-License-Identifier: Apache-2.0
// The kinds of chips and their numbers, as Ascend's documents tell them.
#include "chip.h"

#include <algorithm>
#include <array>

#include "config.h"

namespace hostnpu {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// The first prefix that fits; the last fits all.
constexpr std::array<Chip, 6> kChips = {{
    {"Ascend910B1", 24, 48, 192 * kMiB},
    {"Ascend910B2", 24, 48, 192 * kMiB},
    {"Ascend910B3", 20, 40, 192 * kMiB},
    {"Ascend910B4", 20, 40, 96 * kMiB},
    {"Ascend910_93", 24, 48, 192 * kMiB},
    {"", 20, 40, 192 * kMiB},
}};

}  // namespace

const Chip& chip() {
  return *std::find_if(kChips.begin(), kChips.end(),
                       [](const Chip& candidate) { return config().soc.starts_with(candidate.prefix); });
}

}  // namespace hostnpu

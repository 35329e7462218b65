// SPDX-License-Identifier: Apache-2.0
// The constants of the rule, and what else the files of divergence share. Where they come from: docs/decisions/0017-where-two-runs-part.md
#pragma once

#include <string_view>

#include "compare/divergence.h"

namespace msprobe::compare::divergence {

// A place is named where its distance is above kLimit times the largest distance of any earlier output.
inline constexpr double kLimit = 8;
inline constexpr double kHintLimit = 5;
inline constexpr double kFaultFactor = 2;     // at this many times the limit a suspect is a fault
inline constexpr double kDiscreteFactor = 4;  // on the limit, where an earlier discrete choice came out differently
// Where u is that of a half type, noise alone flips choices, and a token that another expert gets is another token: in the block
// only what is far off is named, and after it a suspect is none.
inline constexpr double kDiscreteFloor = 2;
inline constexpr double kAfterDiscreteFactor = 2;
inline constexpr double kNoiseFlipsAbove = 0x1p-20;  // u
inline constexpr double kNoiseFloor = 2;             // units: B at the start, and m at least
inline constexpr double kSaturated = 0.04;           // B from which on wrong tensors of the right distribution cannot be seen
inline constexpr double kParameterLimit = 4;         // units

// The same for the relative L2 error.
inline constexpr double kElementsLimit = 5;
inline constexpr double kElementsDiscreteFactor = 40;

// Operators inside a module, in units of m.
inline constexpr double kOperatorInputLimit = 16;
inline constexpr double kOperatorOutputLimit = 8;

// u: half a unit in the last place at 1. Numbers of float64 tensors come from float32 sums on some devices: they count as float32.
double unit_of(DType dtype);

// Weight of each statistic in E (divergence.h), and the bounds of the factor s that counts averaging over elements.
inline constexpr double kNormDivisor = 6;
inline constexpr double kMeanDivisor = 4;
inline constexpr double kLargestSample = 64;
inline constexpr double kPeakFactor = 4;

// Means and norms that are float32 were summed in float32, as devices do: a relative difference up to this says nothing.
inline constexpr double kFloat32Sums = 0x1p-20;

// Values of an additive mask: the lowest number of a type, which float16 cannot hold.
inline constexpr double kMaskWide = -1e30;
inline constexpr double kMaskNarrow = -6e4;

inline bool is_hard(Finding finding) { return finding >= Finding::kShape; }

// Sizes of a printed shape, "[2, 8]"; nothing else is expected.
std::vector<std::int64_t> sizes_of(std::string_view shape);

}  // namespace msprobe::compare::divergence

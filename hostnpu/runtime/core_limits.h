// SPDX-License-Identifier: Apache-2.0
// How many cores of each kind a device or a stream may use. The numbers are kept and told, nothing runs slower for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hostnpu {

// By aclrtDevResLimitType: cube cores, vector cores.
inline constexpr std::size_t kCoreKinds = 2;

// Unset: the next one in the order stream, device, chip decides.
using CoreLimits = std::array<std::optional<std::uint32_t>, kCoreKinds>;

}  // namespace hostnpu

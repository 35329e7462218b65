// SPDX-License-Identifier: Apache-2.0
// The chip that is played: what its kind decides. Nothing is computed with these numbers here; programs ask for them.
#pragma once

#include <cstdint>
#include <string_view>

namespace hostnpu {

struct Chip {
  std::string_view prefix;  // of the names of its kind
  std::int64_t cube_cores;
  std::int64_t vector_cores;
  std::int64_t l2_bytes;
};

// The one that HOSTNPU_SOC names.
const Chip& chip();

}  // namespace hostnpu

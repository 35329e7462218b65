// SPDX-License-Identifier: Apache-2.0
// What this process plays: devices, chip, CANN version, memory. Read once from the environment that `msprobe hostnpu run` sets.
#pragma once

#include <cstddef>
#include <string>

namespace hostnpu {

// A CANN version such as 8.5.0; text after the third number ("8.5.0.alpha001") is kept in Config::cann_version only.
struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

struct Config {
  int devices = 1;                        // HOSTNPU_DEVICES
  std::string soc = "Ascend910B1";        // HOSTNPU_SOC
  std::string cann_version = "8.5.0";     // HOSTNPU_CANN
  Version cann{8, 5, 0};                  // the same, parsed
  std::size_t memory_bytes = 8ULL << 30;  // HOSTNPU_MEMORY_GIB: the limit of each device
  bool trace = false;                     // HOSTNPU_TRACE=1: one line on stderr for each task submitted
};

// Never changes after its first use. A variable that makes no sense is told on stderr and its default is used.
const Config& config();

}  // namespace hostnpu

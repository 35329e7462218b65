// SPDX-License-Identifier: Apache-2.0
// `msprobe hostnpu`, which is Python.
#pragma once

#include "cli/words.h"

namespace msprobe::cli {

// The process becomes the Python of the environment that the program is installed in. Throws Error if there is none.
[[noreturn]] void hostnpu_command(const Words& words);

}  // namespace msprobe::cli

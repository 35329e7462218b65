// SPDX-License-Identifier: Apache-2.0
// `msprobe compare`.
#pragma once

#include "cli/words.h"

namespace msprobe::cli {

// The exit code: 0 compared, 1 --fail-on is met, 2 something could not be compared. Throws Error where nothing could.
int compare_command(const Words& words);

}  // namespace msprobe::cli

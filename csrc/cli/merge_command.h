// SPDX-License-Identifier: Apache-2.0
// `msprobe merge_result`.
#pragma once

#include "cli/words.h"

namespace msprobe::cli {

// The exit code. Throws Error where nothing could be merged.
int merge_command(const Words& words);

}  // namespace msprobe::cli

// SPDX-License-Identifier: Apache-2.0
// `msprobe view`.
#pragma once

#include "cli/words.h"

namespace msprobe::cli {

// `words`: what stands behind `view`. Returns the exit code: 0, 1 if --fail-on is met, 2 if one of several dumps could not be read. Throws Error.
int view_command(const Words& words);

}  // namespace msprobe::cli

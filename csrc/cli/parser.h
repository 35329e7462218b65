// SPDX-License-Identifier: Apache-2.0
// CLI11 with our errors.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/words.h"

namespace msprobe::cli {

// Fills the variables of `app`. Throws Error, one line, for words that it does not know or lacks.
void parse_words(CLI::App& app, const Words& words);

}  // namespace msprobe::cli

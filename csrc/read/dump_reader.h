// SPDX-License-Identifier: Apache-2.0
// Reads a dump.json, ours or one of the original format, into columns.
#pragma once

#include <string>
#include <string_view>

#include "read/dump_model.h"
#include "read/json_file.h"

namespace msprobe::read {

// Throws Error for a file that is no JSON (with byte and line), has no `data`, or cannot be read. What is wrong with a single op or
// leaf is a leaf of the model with a `problem`.
DumpModel read_dump(const std::string& path, const ReadProgress& progress = {});

// The same for text in memory; `name` is for messages.
DumpModel parse_dump(std::string_view text, const std::string& name);

}  // namespace msprobe::read

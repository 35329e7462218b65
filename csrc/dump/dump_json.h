// SPDX-License-Identifier: Apache-2.0
// Writes dump.json: the records of one step of one rank or process (docs/formats.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "log/record.h"
#include "log/session.h"

namespace msprobe::dump {

struct DumpHeader {
  std::string task;   // "statistics"
  std::string level;  // "L0", "L1" or "mix"
};

// Makes the folders of `path`, writes in one pass and renames into place. Returns the number of entries. Throws FileError; then
// nothing of the file is left behind.
std::int64_t write_dump_json(const std::string& path, const DumpHeader& header, std::span<const log::Record> records,
                             const log::Session& session);

}  // namespace msprobe::dump

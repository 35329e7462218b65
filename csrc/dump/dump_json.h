// SPDX-License-Identifier: Apache-2.0
// Writes dump.json: the records of one step of one rank or process (docs/formats.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dump/file_names.h"
#include "dump/parameters.h"
#include "log/record.h"
#include "log/session.h"

namespace msprobe::dump {

struct DumpPlace {
  std::string level;             // "L0", "L1" or "mix"
  std::string folder;            // absolute
  FileNames* tensors = nullptr;  // of the tensor task; null: the statistics task
  std::string run;               // JSON; empty: nothing is said of the run
};

// Makes the folder, writes its dump.json in one pass and renames it into place. Returns the number of entries. `parameters` stand in the
// first entries of their modules, and count as written then. Throws FileError; then nothing of the file is left behind.
std::int64_t write_dump_json(const DumpPlace& place, std::span<const log::Record> records, Parameters& parameters,
                             const log::Session& session);

}  // namespace msprobe::dump

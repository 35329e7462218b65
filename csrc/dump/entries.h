// SPDX-License-Identifier: Apache-2.0
// Puts the records of a step together: which tensors belong to one call, and which call of its name it was.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/record.h"
#include "log/session.h"

namespace msprobe::dump {

// `Module.layers.0.Linear.forward.{call}` or `Aten.addmm.{call}.forward`.
std::string entry_name(const log::Tag& tag, std::string_view call);

// One call of a module or API. Positions count the records of the step, from 0.
struct Entry {
  const log::Tag* tag = nullptr;      // of the first tensor: kind and name are the same for all
  std::int64_t call_index = 0;        // calls of this name since the step began
  std::int64_t first = 0;             // position of the first record
  std::int64_t last = 0;              // position of the last record
  std::vector<std::int64_t> records;  // positions, in order of execution

  [[nodiscard]] std::string name() const { return entry_name(*tag, std::to_string(call_index)); }
};

// Entries in the order of their first record; calls.h tells which records are one call. Calls are counted by name, unless the record
// brings its index.
std::vector<Entry> collect_entries(std::span<const log::Record> records, const log::TagTable& tags);

}  // namespace msprobe::dump

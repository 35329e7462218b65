// SPDX-License-Identifier: Apache-2.0
// Puts the records of a step together: which tensors belong to one call, and which call of its name it was.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "log/record.h"
#include "log/session.h"

namespace msprobe::dump {

// One call of a module or API. Positions count the records of the step, from 0.
struct Entry {
  const log::Tag* tag = nullptr;             // of the first tensor: kind and name are the same for all
  std::int64_t call_index = 0;               // calls of this name since the step began
  std::int64_t first = 0;                    // position of the first record
  std::int64_t last = 0;                     // position of the last record
  std::vector<std::int64_t> records;         // positions, in order of execution
  std::unordered_set<std::uint32_t> places;  // of the records' tags

  // Module.layers.0.Linear.forward.3 or Aten.addmm.3.forward
  [[nodiscard]] std::string name() const;
};

// Entries in the order of their first record. A tensor marked as opening starts a new call of its name; the others belong to the
// innermost call of their name that is still open, so calls may repeat and nest (a module that calls itself).
std::vector<Entry> collect_entries(std::span<const log::Record> records, const log::TagTable& tags);

}  // namespace msprobe::dump

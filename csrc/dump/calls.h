// SPDX-License-Identifier: Apache-2.0
// Puts tensors together into calls, one after the other, as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "log/record.h"

namespace msprobe::dump {

// One call of a module or API, in one execution.
struct Call {
  log::NameId name = 0;
  std::int64_t index = 0;                    // calls of this name before it
  std::unordered_set<std::uint32_t> places;  // of its tensors so far
};

class Calls {
 public:
  // The number of the call that a tensor belongs to; calls are numbered from 0 in the order of their first tensors.
  //
  // Tensors that carry the same call and replay belong together, in whatever order a device brings them. One that comes as the first
  // of its call opens a new one, unless it does not open it by its tag: then a call of its name that is still open, and has no tensor
  // at its place yet, goes on (a call that begins inside a captured piece and ends outside it has two numbers). The same place twice is
  // two calls.
  std::size_t add(const log::Record& record, const log::Tag& tag);

  [[nodiscard]] const Call& operator[](std::size_t number) const { return calls_[number]; }
  void clear() { *this = {}; }

 private:
  std::vector<Call> calls_;
  std::map<std::pair<log::CallId, std::uint64_t>, std::size_t> known_;  // by call and replay
  std::unordered_map<log::NameId, std::vector<std::size_t>> open_;      // calls of a name, innermost last
  std::unordered_map<log::NameId, std::int64_t> counts_;
};

}  // namespace msprobe::dump

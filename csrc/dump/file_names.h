// SPDX-License-Identifier: Apache-2.0
// Names of the tensor task's files: the entry's name and the tensor's place in it, as dump.json has them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "log/tag.h"

namespace msprobe::dump {

struct FileName {
  std::string name;  // Module.0.Linear.forward.0.input.0.pt
  std::string full;  // the same before anything was replaced or cut, without .pt; empty if nothing was
};

// Names are made of [A-Za-z0-9._-], at most kMaxFileName long; anything else in a name becomes '_'. Where that cuts a name, or makes two
// of one step alike, a hash of the full name keeps them apart. Thread-safe.
class FileNames {
 public:
  FileName of(const log::Tag& tag, std::int64_t call_index);

 private:
  bool is_taken(const log::Tag& tag, const std::string& plain);

  std::mutex mutex_;
  std::unordered_map<std::string, std::uint64_t> owners_;  // plain name without the call -> whose it is
};

// Leaves room for what a temporary file adds to it, in the 255 bytes of most file systems.
inline constexpr std::size_t kMaxFileName = 200;

}  // namespace msprobe::dump

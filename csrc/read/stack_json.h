// SPDX-License-Identifier: Apache-2.0
// Reads stack.json: where in the user's code each call was made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/text_pool.h"

namespace msprobe::read {

// Immutable once read; any thread may read it.
class StackMap {
 public:
  // The Python text of the list of lines, "['File a.py, line 3']"; empty for an op that is not there.
  [[nodiscard]] std::string_view find(std::string_view op) const;
  [[nodiscard]] std::size_t size() const noexcept { return lines_of_.size(); }

 private:
  friend class StackHandler;

  TextPool ops_;
  TextPool lines_;
  std::vector<std::uint32_t> lines_of_;  // of each op
};

// Either {op: [line, ...]} or {"0": [[op, ...], [line, ...]], ...}, which is known by its key "0". Throws Error.
StackMap read_stack(const std::string& path);

}  // namespace msprobe::read

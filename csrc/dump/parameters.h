// SPDX-License-Identifier: Apache-2.0
// Statistics of parameters and buffers that have not stood in a dump.json yet.
#pragma once

#include <map>
#include <unordered_set>
#include <vector>

#include "log/record.h"

namespace msprobe::dump {

// One thread at a time.
class Parameters {
 public:
  // Takes the records of parameters out of `records`, and forgets older ones of the same parameters.
  void take_from(std::vector<log::Record>& records, const log::TagTable& tags);

  // Those of a module, in the order in which they were taken first; null if there is nothing to tell.
  [[nodiscard]] const std::vector<log::Record>* of(log::NameId module) const;

  // They stand in a file.
  void written(const std::unordered_set<log::NameId>& modules);

 private:
  std::map<log::NameId, std::vector<log::Record>> fresh_;
};

}  // namespace msprobe::dump

// SPDX-License-Identifier: Apache-2.0
// The keys under which rows of both sides find each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/dump_model.h"
#include "read/yaml_map.h"

namespace msprobe::compare {

// Where the number of the call stands in an op's name, Functional.linear.5.forward or Module.l.Linear.forward.5; size 0: nowhere.
struct CallNumber {
  std::size_t begin = 0;
  std::size_t size = 0;
};
CallNumber call_number(std::string_view op_name);

enum class KeyKind : std::uint8_t {
  kPrinted,   // the row's name
  kOrdinal,   // calls of one op in the backward pass are counted from 0 in the order of the file, whatever their numbers
  kNoNumber,  // without the number of the call
};

// Writes keys of one dump's rows. Immutable after construction; any thread may use it.
class RowKeys {
 public:
  RowKeys(const read::DumpModel& model, KeyKind kind);
  void append(std::string& out, const read::Leaf& leaf) const;

 private:
  static constexpr std::uint32_t kSame = ~0U;

  const read::DumpModel& model_;
  KeyKind kind_;
  std::vector<std::uint32_t> ordinals_;  // of each op; kSame: its name stands as it is
};

// What -cm does to a target row's key: "Cell." at its front becomes "Module.", and its middle part, between the first point and
// .forward., .backward. or .parameters_grad., goes through the map. Golden keys only lose their "Cell.".
void apply_cell_map(std::string& key, const read::YamlMap& map);

}  // namespace msprobe::compare

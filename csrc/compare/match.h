// SPDX-License-Identifier: Apache-2.0
// Which row of target belongs to which row of golden.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/dump_model.h"
#include "read/yaml_map.h"

namespace msprobe::compare {

inline constexpr std::uint32_t kNoLeaf = ~0U;
// Rows of one name are joined each with each. A dump that names all its rows alike would fill any disk, so partners have a limit.
inline constexpr std::size_t kMostPartners = 16;

enum class MatchState : std::uint8_t {
  kMatched,
  kFuzzy,       // matched, under different names
  kMapped,      // matched by a map of the user's
  kNoName,      // unmatched: the other side has no such name
  kOtherDtype,  // unmatched: the row of that name holds another kind of thing; its number stands beside it
  kCrowded,     // unmatched, of golden: kMostPartners rows before it have its name
};

// One row of the table. Leaves by number; of an unmatched row that of the other side is kNoLeaf, or, with kOtherDtype, the one that
// was refused.
struct RowPair {
  std::uint32_t target = kNoLeaf;
  std::uint32_t golden = kNoLeaf;
  MatchState state = MatchState::kMatched;
  bool of_target = true;  // whose row an unmatched one is
};

inline bool is_matched(const RowPair& pair) { return pair.state < MatchState::kNoName; }

struct MatchOptions {
  bool fuzzy = false;
  const read::YamlMap* data_map = nullptr;  // beats the other two
  bool cell_mapping = false;
  const read::YamlMap* cell_map = nullptr;
  int threads = 1;
};

struct Matching {
  std::vector<RowPair> rows;  // in the order of target; then the rows of golden alone, by name
  std::vector<std::string> warnings;
};

Matching match(const read::DumpModel& target, const read::DumpModel& golden, const MatchOptions& options);

// How the types of two rows of one name stand to each other.
enum class DtypeRelation : std::uint8_t { kEqual, kNumbers, kNothing };
DtypeRelation dtype_relation(std::string_view target, std::string_view golden);
bool is_float_dtype(std::string_view dtype);  // of either framework; complex ones are

}  // namespace msprobe::compare

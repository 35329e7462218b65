// SPDX-License-Identifier: Apache-2.0
// What a comparison needs of a dump.json, in columns: texts are kept once, a leaf takes 64 bytes whatever its JSON took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/text_pool.h"

namespace msprobe::read {

// One of the four statistics, or another value, as it stands in the JSON.
enum class NumberKind : std::uint8_t {
  kAbsent,    // no such key
  kNull,      // null
  kInteger,   // within int64
  kUnsigned,  // above int64, within uint64
  kReal,      // with a point or an exponent, NaN and infinities; integers beyond 64 bits; a null that `Special` explains
  kFalse,
  kTrue,
  kText,  // a string, or the Python text of a list or mapping
};

struct Number {
  NumberKind kind = NumberKind::kAbsent;
  std::int64_t integer = 0;   // of kInteger
  std::uint64_t natural = 0;  // of kUnsigned
  double real = 0;            // of kReal
  std::string_view text;      // of kText
};

enum Statistic : std::uint8_t { kMax, kMin, kMean, kNorm };
inline constexpr std::size_t kStatistics = 4;

// In the order of rows within an op.
enum class Section : std::uint8_t { kInput, kParameters, kOutput, kParametersGrad };

enum class RequiresGrad : std::uint8_t { kAbsent, kFalse, kTrue };

enum class LeafKind : std::uint8_t {
  kTensor,        // has a dtype, or statistics without one
  kValue,         // a number, a text, a slice, torch.Size, ...: no tensor
  kProcessGroup,  // torch.ProcessGroup
  kNull,          // null where a leaf might stand
  kBroken,        // stands for an op, or for a value, that is none; Extra::problem says why
};

using TextId = std::uint32_t;  // of DumpModel::texts; 0: none

struct Leaf {
  std::array<std::uint64_t, kStatistics> payload{};
  std::array<NumberKind, kStatistics> kinds{};
  std::uint32_t suffix = 0;  // of the row's name, after the op's; DumpModel::suffixes
  std::uint32_t dtype = 0;   // as printed; DumpModel::dtypes
  std::uint32_t shape = 0;   // as printed; DumpModel::shapes
  std::uint32_t op = 0;
  std::uint32_t extra = 0;  // DumpModel::extras; 0: none
  Section section = Section::kInput;
  RequiresGrad requires_grad = RequiresGrad::kAbsent;
  LeafKind kind = LeafKind::kTensor;
};

// What few leaves have.
struct Extra {
  TextId md5 = 0;
  TextId value = 0;      // Python text of `value` (of group_ranks, for a ProcessGroup)
  TextId data_name = 0;  // the file of a saved tensor, as written: nothing about it is checked
  TextId note = 0;
  TextId problem = 0;        // what is wrong with the leaf
  TextId p2p_op = 0;         // of a torch.distributed.P2POp around the leaf
  TextId p2p_peer = 0;       // likewise
  std::uint32_t counts = 0;  // DumpModel::counts; 0: none
};

// Elements of a tensor that are ...
struct Counts {
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::int64_t zero = 0;
};

struct Op {
  TextId name = 0;
  std::uint32_t first_leaf = 0;
  std::uint32_t leaf_count = 0;
  std::int64_t order_first = -1;  // `Order`; -1: absent
  std::int64_t order_last = -1;
};

// A dump.json in memory. Immutable once read; any thread may read it.
struct DumpModel {
  std::string path;
  std::string task;
  std::string level;
  bool has_md5 = false;         // in any leaf
  bool has_data_names = false;  // likewise
  std::uint64_t bytes = 0;      // of the file
  std::vector<Op> ops;          // in the order of the file
  std::vector<Leaf> leaves;     // in the order of rows: an op's stand together
  std::vector<Extra> extras{Extra{}};
  std::vector<Counts> counts{Counts{}};
  TextPool texts;
  TextPool suffixes;
  TextPool dtypes;
  TextPool shapes;
  std::vector<std::vector<std::int64_t>> sizes{{}};  // of each of `shapes` that is a list of sizes; else empty

  [[nodiscard]] std::string_view text(TextId id) const { return texts[id]; }
  [[nodiscard]] Number number(const Leaf& leaf, std::size_t statistic) const;
  [[nodiscard]] const Extra& extra(const Leaf& leaf) const { return extras[leaf.extra]; }
  [[nodiscard]] const Counts* counts_of(const Leaf& leaf) const;  // null: not counted
  [[nodiscard]] std::span<const Leaf> leaves_of(const Op& op) const { return {leaves.data() + op.first_leaf, op.leaf_count}; }
  [[nodiscard]] std::string_view op_name(const Leaf& leaf) const { return texts[ops[leaf.op].name]; }
  // When the leaf was seen, by `Order`: inputs when their call began, outputs when it ended; -1 if the file does not say.
  [[nodiscard]] std::int64_t moment_of(const Leaf& leaf) const;
  // The row's name: `data_name` without its last extension where there is one, else the op's name and the suffix.
  void append_row_name(std::string& out, const Leaf& leaf) const;
};

}  // namespace msprobe::read

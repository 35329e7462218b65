// SPDX-License-Identifier: Apache-2.0
// Judges the rows of one op after the other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/match.h"
#include "compare/rules.h"
#include "compare/table.h"
#include "compare/tensor_metrics.h"
#include "compare/values.h"
#include "format/dtype.h"
#include "read/dump_model.h"
#include "read/stack_json.h"

namespace msprobe::compare {

// Two dumps in memory and how they are compared. Immutable while rows are made; any thread may read it.
struct Comparison {
  TableInfo table;
  const read::DumpModel* target = nullptr;
  const read::DumpModel* golden = nullptr;
  const read::StackMap* stack = nullptr;  // null: no such column
  std::string target_tensors;             // folders of saved tensors, of tensor mode
  std::string golden_tensors;
  Tolerance tolerance;
  int threads_a_tensor = 1;
  std::vector<DType> target_dtypes;  // by the numbers that leaves have for them
  std::vector<DType> golden_dtypes;
  std::vector<bool> by_chance;  // of target's ops (chance.h); empty: none
  bool judges_grad = true;      // false: one of the dumps does not record requires_grad at all

  [[nodiscard]] const read::Leaf& target_leaf(const RowPair& pair) const { return target->leaves[pair.target]; }
  [[nodiscard]] const read::Leaf& golden_leaf(const RowPair& pair) const { return golden->leaves[pair.golden]; }
  // Whether the row's partner need not be the same call.
  [[nodiscard]] bool is_by_chance(const RowPair& pair) const {
    return is_matched(pair) && !by_chance.empty() && by_chance[target_leaf(pair).op];
  }
  // The side whose name the row has.
  [[nodiscard]] const read::Leaf& own_leaf(const RowPair& pair) const {
    return pair.of_target ? target_leaf(pair) : golden_leaf(pair);
  }
};

struct JudgedRow {
  RowPair pair;
  RuleSet rules = 0;
  Result result = Result::kPass;
  bool starts_op = false;  // the first row of its op in target
  float largest = 0;  // the largest relative error: of the norm, of Max and Min to the range, of Mean to the root mean square
  float norm = -1;    // the norm's relative error, as a fraction; < 0: none
  std::uint32_t metrics = ~0U;  // place among the block's tensor metrics
};

// Judges consecutive rows of the table, whole ops. Tensor mode reads the saved tensors and adds their metrics.
void judge(const Comparison& comparison, std::span<const RowPair> pairs, std::vector<JudgedRow>& rows,
           std::vector<TensorMetrics>& metrics);

}  // namespace msprobe::compare

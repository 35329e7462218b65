// SPDX-License-Identifier: Apache-2.0
// From two dumps and their matched leaves to what the divergence is found in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/divergence.h"
#include "read/dump_model.h"

namespace msprobe::compare::divergence {

// Indices into DumpModel::leaves.
struct LeafPair {
  std::uint32_t target = 0;
  std::uint32_t golden = 0;
  float relative_l2 = -1;  // < 0: not known
};

// A tensor's leaf as the divergence sees it; of anything else a Leaf without dtype and numbers.
Leaf view_leaf(const read::DumpModel& model, const read::Leaf& leaf);
Leaf view_leaf(const read::DumpModel& model, const read::Leaf& leaf,
               DType dtype);  // of a leaf whose dtype was looked up before

// Of each text of DumpModel::dtypes; kUnknown for what is no dtype of a tensor.
std::vector<DType> dtypes_of(const read::DumpModel& model);

// Tensors that have no partner count as missing where their call has one. A call's partner is that of its first matched leaf. Both
// models must outlive the Input. `threads` share the measuring; the result does not depend on them.
Input make_input(const read::DumpModel& target, const read::DumpModel& golden, std::span<const LeafPair> pairs,
                 int threads = 1);

}  // namespace msprobe::compare::divergence

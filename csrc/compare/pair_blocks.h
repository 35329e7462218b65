// SPDX-License-Identifier: Apache-2.0
// Two tensors of one shape, cut into blocks of a fixed size that any thread may take; the results are joined in the blocks' order.
#pragma once

#include <cstdint>

#include "compare/number_reader.h"
#include "compare/pair_kernels.h"
#include "compare/special_values.h"
#include "read/pt_file.h"

namespace msprobe::compare {

struct PairResult {
  PairSums sums;  // of what is finite on both sides
  SpecialDifferences special;
  std::int64_t elements = 0;  // two for each item of packed fp4
  std::int64_t worst = -1;    // the first element with special differences, else with the largest |x - y|; -1: none differ
};

// The tensors have the same number of items, at least one, and are both packed fp4 or neither is. Throws nothing but std::bad_alloc.
PairResult compare_blocks(const read::PtTensor& target, const read::PtTensor& golden, const Limits& limits, int threads,
                          const PairKernels& kernels);

}  // namespace msprobe::compare

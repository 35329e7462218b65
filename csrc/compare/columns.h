// SPDX-License-Identifier: Apache-2.0
// The columns of each mode by number: who fills and who judges cells names them alike.
#pragma once

#include <cstdint>

#include "compare/table.h"

namespace msprobe::compare {

// Every column of every mode; a table has those of its mode, in the order of columns_of().
enum class ColumnId : std::uint8_t {
  kTargetName,
  kGoldenName,
  kTargetDtype,
  kGoldenDtype,
  kTargetShape,
  kGoldenShape,
  kTargetGrad,
  kGoldenGrad,
  kMaxDiff,  // eight numbers of statistics mode: differences, then relative errors, each Max, Min, Mean, Norm
  kMinDiff,
  kMeanDiff,
  kNormDiff,
  kMaxRelative,
  kMinRelative,
  kMeanRelative,
  kNormRelative,
  kCosine,  // tensor mode
  kEuclidean,
  kMaxAbs,
  kMaxRelativeOfTensor,
  kOneThousandth,
  kFiveThousandths,
  kTargetMax,  // eight numbers as the dumps have them
  kTargetMin,
  kTargetMean,
  kTargetNorm,
  kGoldenMax,
  kGoldenMin,
  kGoldenMean,
  kGoldenNorm,
  kTargetMd5,
  kGoldenMd5,
  kGradConsistent,
  kResult,
  kMessage,
  kStack,
  kDataName,
  kWorstIndex,  // our own ones of tensor mode
  kWorstTarget,
  kWorstGolden,
  kWorstUlp,
  kOverTolerance,
};

std::vector<ColumnId> column_ids(Mode mode, bool with_stack);
Column column(ColumnId id) noexcept;

}  // namespace msprobe::compare

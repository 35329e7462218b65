// SPDX-License-Identifier: Apache-2.0
// Names and order of the columns: scripts that read the original tool's tables find all of them here.
#include "compare/columns.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace msprobe::compare {
namespace {

using Id = ColumnId;

constexpr std::array kCommon = {Id::kTargetName,  Id::kGoldenName,  Id::kTargetDtype, Id::kGoldenDtype,
                                Id::kTargetShape, Id::kGoldenShape, Id::kTargetGrad,  Id::kGoldenGrad};
constexpr std::array kDifferences = {Id::kMaxDiff,     Id::kMinDiff,     Id::kMeanDiff,     Id::kNormDiff,
                                     Id::kMaxRelative, Id::kMinRelative, Id::kMeanRelative, Id::kNormRelative};
constexpr std::array kMetrics = {Id::kCosine,        Id::kEuclidean,      Id::kMaxAbs, Id::kMaxRelativeOfTensor,
                                 Id::kOneThousandth, Id::kFiveThousandths};
constexpr std::array kNumbers = {Id::kTargetMax, Id::kTargetMin, Id::kTargetMean, Id::kTargetNorm,
                                 Id::kGoldenMax, Id::kGoldenMin, Id::kGoldenMean, Id::kGoldenNorm};
constexpr std::array kChecksums = {Id::kTargetMd5, Id::kGoldenMd5};
constexpr std::array kVerdict = {Id::kGradConsistent, Id::kResult, Id::kMessage};
constexpr std::array kStack = {Id::kStack};
constexpr std::array kOurs = {Id::kDataName,    Id::kWorstIndex, Id::kWorstTarget,
                              Id::kWorstGolden, Id::kWorstUlp,   Id::kOverTolerance};

template <std::size_t kSize>
void append(std::vector<Id>& ids, const std::array<Id, kSize>& more) {
  std::copy(more.begin(), more.end(), std::back_inserter(ids));
}

}  // namespace

std::string_view result_name(Result result) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"pass", "warning", "error", "unmatched"};
  return kNames[static_cast<std::size_t>(result)];
}

Column column(ColumnId id) noexcept {
  using Type = ColumnType;
  // In the order of ColumnId.
  constexpr std::array<Column, static_cast<std::size_t>(Id::kOverTolerance) + 1> kColumns = {{
      {"NPU Name", Type::kText},
      {"Bench Name", Type::kText},
      {"NPU Dtype", Type::kText},
      {"Bench Dtype", Type::kText},
      {"NPU Tensor Shape", Type::kText},
      {"Bench Tensor Shape", Type::kText},
      {"NPU Requires_grad", Type::kText},
      {"Bench Requires_grad", Type::kText},
      {"Max diff", Type::kNumber},
      {"Min diff", Type::kNumber},
      {"Mean diff", Type::kNumber},
      {"L2norm diff", Type::kNumber},
      {"MaxRelativeErr", Type::kPercent},
      {"MinRelativeErr", Type::kPercent},
      {"MeanRelativeErr", Type::kPercent},
      {"NormRelativeErr", Type::kPercent},
      {"Cosine", Type::kNumber},
      {"EucDist", Type::kNumber},
      {"MaxAbsErr", Type::kNumber},
      {"MaxRelativeErr", Type::kNumber},
      {"One Thousandth Err Ratio", Type::kNumber},
      {"Five Thousandths Err Ratio", Type::kNumber},
      {"NPU max", Type::kNumber},
      {"NPU min", Type::kNumber},
      {"NPU mean", Type::kNumber},
      {"NPU l2norm", Type::kNumber},
      {"Bench max", Type::kNumber},
      {"Bench min", Type::kNumber},
      {"Bench mean", Type::kNumber},
      {"Bench l2norm", Type::kNumber},
      {"NPU MD5", Type::kText},
      {"BENCH MD5", Type::kText},
      {"Requires_grad Consistent", Type::kText},
      {"Result", Type::kText},
      {"Err_message", Type::kText},
      {"NPU_Stack_Info", Type::kText},
      {"Data_name", Type::kText},
      {"Worst Index", Type::kText},
      {"NPU Worst Value", Type::kNumber},
      {"Bench Worst Value", Type::kNumber},
      {"Worst ULP", Type::kNumber},
      {"Over Tolerance", Type::kNumber},
  }};
  return kColumns[static_cast<std::size_t>(id)];
}

std::vector<ColumnId> column_ids(Mode mode, bool with_stack) {
  std::vector<ColumnId> ids;
  append(ids, kCommon);
  if (mode == Mode::kStatistics) {
    append(ids, kDifferences);
    append(ids, kNumbers);
  } else if (mode == Mode::kTensor) {
    append(ids, kMetrics);
    append(ids, kNumbers);
  } else {
    append(ids, kChecksums);
  }
  append(ids, kVerdict);
  if (with_stack) {
    append(ids, kStack);
  }
  if (mode == Mode::kTensor) {
    append(ids, kOurs);
  }
  return ids;
}

std::vector<Column> columns_of(Mode mode, bool with_stack) {
  std::vector<Column> columns;
  for (const ColumnId id : column_ids(mode, with_stack)) {
    columns.push_back(column(id));
  }
  return columns;
}

TableInfo table_info(Mode mode, bool with_stack) {
  TableInfo info;
  info.mode = mode;
  info.columns = columns_of(mode, with_stack);
  const std::vector<ColumnId> ids = column_ids(mode, with_stack);
  const auto place = [&](ColumnId id) { return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin()); };
  info.name_column = place(Id::kTargetName);
  info.result_column = place(Id::kResult);
  info.message_column = place(Id::kMessage);
  return info;
}

}  // namespace msprobe::compare

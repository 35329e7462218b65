// SPDX-License-Identifier: Apache-2.0
// Columns of a comparison by the keys of the page's script.
#include "report/page_columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "compare/columns.h"

namespace msprobe::report {
namespace {

using compare::ColumnId;

// 2^53: the largest integer up to which a double holds each one.
constexpr double kExactInteger = 0x1p53;

// In the order of ColumnId.
constexpr std::array<std::string_view, static_cast<std::size_t>(ColumnId::kOverTolerance) + 1> kKeys = {
    "target_name", "golden_name", "target_dtype",    "golden_dtype",     "target_shape", "golden_shape",
    "target_grad", "golden_grad", "max_diff",        "min_diff",         "mean_diff",    "norm_diff",
    "max_error",   "min_error",   "mean_error",      "norm_error",       "cosine",       "euclidean",
    "max_abs",     "max_rel",     "one_thousandth",  "five_thousandths", "target_max",   "target_min",
    "target_mean", "target_norm", "golden_max",      "golden_min",       "golden_mean",  "golden_norm",
    "target_md5",  "golden_md5",  "grad_consistent", "result",           "message",      "stack",
    "data_name",   "worst_index", "worst_target",    "worst_golden",     "worst_ulp",    "over_tolerance"};

constexpr std::array<ColumnId, 8> kDerived = {ColumnId::kMaxDiff,      ColumnId::kMinDiff,     ColumnId::kMeanDiff,
                                              ColumnId::kNormDiff,     ColumnId::kMaxRelative, ColumnId::kMinRelative,
                                              ColumnId::kMeanRelative, ColumnId::kNormRelative};
constexpr std::array<ColumnId, 4> kTargetNumbers = {ColumnId::kTargetMax, ColumnId::kTargetMin, ColumnId::kTargetMean,
                                                    ColumnId::kTargetNorm};
constexpr std::array<ColumnId, 4> kGoldenNumbers = {ColumnId::kGoldenMax, ColumnId::kGoldenMin, ColumnId::kGoldenMean,
                                                    ColumnId::kGoldenNorm};

constexpr std::size_t kAddedColumns = 4;  // behind those of the table

// Five digits: a double whose last bytes are zero takes half of the room once it is packed.
double shortened(double value) {
  constexpr std::uint64_t kLastBytes = 0xFFFFFFFF;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~kLastBytes);
}

void add_distance(PageRows& rows, std::size_t column, const compare::Distance& distance) {
  switch (distance.kind) {
    case compare::DistanceKind::kNumber:
      rows.number(column, shortened(distance.value));
      break;
    case compare::DistanceKind::kHard:
      rows.number(column, std::numeric_limits<double>::infinity(), kHardDistance);
      break;
    case compare::DistanceKind::kDiffers:
      rows.word(column, kChoiceDiffers);
      break;
    case compare::DistanceKind::kChance:
      rows.word(column, kByChance);
      break;
    default:
      rows.word(column, "");
  }
}

bool is_derived(PageKind kind) { return kind == PageKind::kDifference || kind == PageKind::kRelative; }

}  // namespace

std::vector<PageColumn> page_columns(const compare::TableInfo& table) {
  const bool with_stack = std::any_of(table.columns.begin(), table.columns.end(), [](const compare::Column& column) {
    return column.name == compare::column(ColumnId::kStack).name;
  });
  const std::vector<ColumnId> ids = compare::column_ids(table.mode, with_stack);
  const auto place = [&](ColumnId id) { return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin()); };
  std::vector<PageColumn> columns;
  for (const ColumnId id : ids) {
    const compare::Column& column = compare::column(id);
    PageColumn made{kKeys.at(static_cast<std::size_t>(id)), column.name, PageKind::kText};
    const auto derived = std::find(kDerived.begin(), kDerived.end(), id);
    if (id == ColumnId::kTargetName || id == ColumnId::kGoldenName) {
      made.kind = PageKind::kName;
    } else if (derived != kDerived.end()) {
      const auto statistic = static_cast<std::size_t>(derived - kDerived.begin());
      made.kind = statistic < kTargetNumbers.size() ? PageKind::kDifference : PageKind::kRelative;
      made.target = place(kTargetNumbers.at(statistic % kTargetNumbers.size()));
      made.golden = place(kGoldenNumbers.at(statistic % kGoldenNumbers.size()));
    } else if (column.type != compare::ColumnType::kText) {
      made.kind = PageKind::kNumber;
    }
    columns.push_back(made);
  }
  columns.push_back({"target_special", "NPU special values", PageKind::kText});
  columns.push_back({"golden_special", "Bench special values", PageKind::kText});
  columns.push_back({"distance", "E", PageKind::kNumber});
  columns.push_back({"order", "Order", PageKind::kNumber});
  return columns;
}

PageRows page_rows(const std::vector<PageColumn>& columns, const compare::RowBlock& block) {
  PageRows rows(columns);
  compare::Scratch scratch;
  const std::size_t own = columns.size() - kAddedColumns;
  for (std::size_t row = 0; row < block.size(); ++row) {
    for (const bool derived : {false, true}) {
      for (std::size_t column = 0; column < own; ++column) {
        if (is_derived(columns[column].kind) != derived) {
          continue;
        }
        const compare::Cell cell = block.cell(row, column, scratch);
        if (derived) {
          rows.derived(column, cell);
        } else if (columns[column].kind == PageKind::kNumber) {
          fill_page_number(rows, column, cell.kind != compare::CellKind::kText,
                           cell.kind == compare::CellKind::kInteger ? static_cast<double>(cell.integer) : cell.real, cell.text);
        } else {
          rows.text(column, cell.text);
        }
      }
    }
    rows.text(own, special_text(block.special_values(row, true)));
    rows.text(own + 1, special_text(block.special_values(row, false)));
    add_distance(rows, own + 2, block.distance(row));
    add_page_order(rows, own + 3, block.moment(row));
    rows.end_row(block.result(row), row);
  }
  return rows;
}

void fill_page_number(PageRows& rows, std::size_t column, bool is_number, double value, std::string_view text) {
  if (!is_number) {
    rows.word(column, text);
  } else if (std::isfinite(value) && std::abs(value) > kExactInteger && text.find_first_of(".e") == std::string_view::npos) {
    rows.number(column, value, text);
  } else {
    rows.number(column, value);
  }
}

void add_page_order(PageRows& rows, std::size_t column, std::int64_t moment) {
  if (moment < 0) {
    rows.word(column, "");
  } else {
    rows.number(column, static_cast<double>(moment));
  }
}

std::string special_text(const read::Counts* counts) {
  if (counts == nullptr) {
    return {};
  }
  return "[" + std::to_string(counts->nan) + ", " + std::to_string(counts->pos_inf) + ", " + std::to_string(counts->neg_inf) +
         ", " + std::to_string(counts->zero) + "]";
}

}  // namespace msprobe::report

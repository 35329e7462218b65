// SPDX-License-Identifier: Apache-2.0
// A short sorted list, into which few rows get.
#include "compare/worst_rows.h"

#include <algorithm>
#include <utility>

namespace msprobe::compare {
namespace {

void insert(std::vector<WorstRow>& worst, WorstRow row) {
  const auto place = std::upper_bound(worst.begin(), worst.end(), row, is_worse);
  worst.insert(place, std::move(row));
  if (worst.size() > kWorstRows) {
    worst.pop_back();
  }
}

}  // namespace

bool is_worse(const WorstRow& a, const WorstRow& b) {
  if (a.result != b.result) {
    return a.result > b.result;
  }
  if (a.by_chance != b.by_chance) {
    return b.by_chance;
  }
  return a.relative_error > b.relative_error;
}

void keep_worst(std::vector<WorstRow>& worst, const Comparison& comparison, const ComparedBlock& block, std::size_t row_number,
                std::uint64_t number) {
  const JudgedRow& row = block.row(row_number);
  if (row.result != Result::kError && row.result != Result::kWarning) {
    return;
  }
  WorstRow candidate;
  candidate.result = row.result;
  candidate.by_chance = comparison.is_by_chance(row.pair);
  candidate.relative_error = static_cast<double>(row.largest);
  const TensorMetrics* const metrics = block.metrics(row);
  if (metrics != nullptr) {
    candidate.relative_error = metric_cell(*metrics, Metric::kMaxRelativeError).number.value_or(candidate.relative_error);
  }
  if (worst.size() == kWorstRows && !is_worse(candidate, worst.back())) {
    return;
  }
  candidate.row = number;
  candidate.target_name = candidate.golden_name = "N/A";
  if (is_matched(row.pair) || row.pair.of_target) {
    candidate.target_name.clear();
    comparison.target->append_row_name(candidate.target_name, comparison.target_leaf(row.pair));
  }
  if (is_matched(row.pair) || !row.pair.of_target) {
    candidate.golden_name.clear();
    comparison.golden->append_row_name(candidate.golden_name, comparison.golden_leaf(row.pair));
  }
  candidate.messages = messages(comparison, row, metrics);
  insert(worst, std::move(candidate));
}

void keep_worst(std::vector<WorstRow>& worst, const std::vector<WorstRow>& more) {
  for (const WorstRow& row : more) {
    insert(worst, row);
  }
}

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// Rows of a comparison with their cells, made when a writer asks for them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compare/columns.h"
#include "compare/judge.h"

namespace msprobe::compare {

// `comparison` and `columns` outlive the block.
class ComparedBlock : public RowBlock {
 public:
  ComparedBlock(const Comparison& comparison, const std::vector<ColumnId>& columns)
      : comparison_(comparison), columns_(columns) {}

  void judge(std::span<const RowPair> pairs);

  [[nodiscard]] const TableInfo& table() const override { return comparison_.table; }
  [[nodiscard]] std::size_t size() const override { return rows_.size(); }
  [[nodiscard]] Result result(std::size_t row) const override { return rows_[row].result; }
  Cell cell(std::size_t row, std::size_t column, Scratch& scratch) const override;
  [[nodiscard]] const read::Counts* special_values(std::size_t row, bool of_target) const override;
  [[nodiscard]] Distance distance(std::size_t row) const override;
  [[nodiscard]] std::int64_t moment(std::size_t row) const override;

  [[nodiscard]] const JudgedRow& row(std::size_t row) const { return rows_[row]; }
  [[nodiscard]] const TensorMetrics* metrics(const JudgedRow& row) const {
    return row.metrics == ~0U ? nullptr : &metrics_[row.metrics];
  }

 private:
  const Comparison& comparison_;
  const std::vector<ColumnId>& columns_;
  std::vector<JudgedRow> rows_;
  std::vector<TensorMetrics> metrics_;
};

// The texts of Err_message, in order.
std::vector<std::string> messages(const Comparison& comparison, const JudgedRow& row, const TensorMetrics* metrics);

}  // namespace msprobe::compare

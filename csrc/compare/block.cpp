// SPDX-License-Identifier: Apache-2.0
// What stands in each cell.
#include "compare/block.h"

#include <charconv>
#include <cmath>

#include "compare/divergence_input.h"
#include "compare/measures.h"
#include "dump/json.h"
#include "read/python_text.h"

namespace msprobe::compare {
namespace {

using read::Leaf;

constexpr std::string_view kNotAvailable = "N/A";

std::size_t offset(ColumnId id, ColumnId first) { return static_cast<std::size_t>(id) - static_cast<std::size_t>(first); }

std::string_view grad_text(read::RequiresGrad grad) {
  return grad == read::RequiresGrad::kAbsent ? kNotAvailable : (grad == read::RequiresGrad::kTrue ? "True" : "False");
}

Cell text_cell(std::string_view text) { return {CellKind::kText, text, 0, 0}; }

Cell of_statistic(const read::Number& number, Scratch& scratch) {
  append_statistic(scratch.text, number);
  const Value value = classify(number);
  Cell cell = text_cell(scratch.text);
  if (value.value_class <= ValueClass::kNegInf) {
    cell.real = value.real;
    cell.integer = number.integer;
    cell.kind = number.kind == read::NumberKind::kInteger ? CellKind::kInteger : CellKind::kReal;
  }
  return cell;
}

Cell of_difference(const Difference& difference, bool relative, Scratch& scratch) {
  if (relative) {
    append_relative(scratch.text, difference);
  } else {
    append_difference(scratch.text, difference);
  }
  Cell cell = text_cell(scratch.text);
  if (difference.kind == DifferenceKind::kEqual) {
    cell.kind = CellKind::kInteger;
  } else if (difference.kind == DifferenceKind::kNumbers || difference.kind == DifferenceKind::kNotFinite) {
    cell.kind = CellKind::kReal;
    const bool as_it_is = !relative || std::isnan(difference.difference);
    cell.real = difference.kind == DifferenceKind::kNotFinite
                    ? (as_it_is ? difference.difference : std::abs(difference.difference))
                    : (relative ? difference.percent : difference.difference);
  }
  return cell;
}

Cell of_metric(const TensorMetrics* metrics, Metric metric, Scratch& scratch) {
  if (metrics == nullptr) {
    return text_cell("unsupported");
  }
  const MetricCell value = metric_cell(*metrics, metric);
  if (!value.number) {
    return text_cell(value.text);
  }
  read::append_python_float(scratch.text, *value.number);
  return {CellKind::kReal, scratch.text, *value.number, 0};
}

Cell of_worst_value(const TensorMetrics* metrics, bool target) {
  const std::string_view text =
      metrics == nullptr ? std::string_view{} : (target ? metrics->worst_target : metrics->worst_golden);
  if (text.empty()) {
    return text_cell(kNotAvailable);
  }
  Cell cell = text_cell(text);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size()) {
    cell.kind = CellKind::kReal;
    cell.real = value;
  }
  return cell;
}

Cell of_count(std::uint64_t count, Scratch& scratch) {
  read::append_python_int(scratch.text, count);
  return {CellKind::kInteger, scratch.text, static_cast<double>(count), static_cast<std::int64_t>(count)};
}

// Names, types and shapes of one side.
Cell of_leaf(const read::DumpModel& model, const Leaf& leaf, ColumnId id, Scratch& scratch) {
  switch (id) {
    case ColumnId::kTargetName:
      model.append_row_name(scratch.text, leaf);
      return text_cell(scratch.text);
    case ColumnId::kTargetDtype:
      return text_cell(model.dtypes[leaf.dtype]);
    case ColumnId::kTargetShape:
      return text_cell(model.shapes[leaf.shape]);
    case ColumnId::kTargetGrad:
      return text_cell(grad_text(leaf.requires_grad));
    default:
      scratch.text = checksum_text(model, leaf, scratch.text);
      return text_cell(scratch.text.empty() ? kNotAvailable : std::string_view(scratch.text));
  }
}

// The same column of target.
ColumnId of_target(ColumnId id) { return static_cast<ColumnId>(static_cast<std::size_t>(id) - 1); }

bool is_cell_of_golden(ColumnId id) {
  return id == ColumnId::kGoldenName || id == ColumnId::kGoldenDtype || id == ColumnId::kGoldenShape ||
         id == ColumnId::kGoldenGrad || id == ColumnId::kGoldenMd5;
}

void append_data_name(std::string& out, const read::DumpModel& model, const Leaf* leaf) {
  if (leaf == nullptr) {
    out += "'N/A'";
  } else if (const read::TextId name = model.extra(*leaf).data_name; name != 0) {
    read::append_python_string(out, model.text(name));
  } else {
    out += "'-1'";
  }
}

}  // namespace

void ComparedBlock::judge(std::span<const RowPair> pairs) {
  metrics_.clear();
  compare::judge(comparison_, pairs, rows_, metrics_);
}

Cell ComparedBlock::cell(std::size_t row_number, std::size_t column, Scratch& scratch) const {
  const JudgedRow& row = rows_[row_number];
  const RowPair& pair = row.pair;
  const bool matched = is_matched(pair);
  const Leaf* const left = matched || pair.of_target ? &comparison_.target_leaf(pair) : nullptr;
  const Leaf* const right = matched || !pair.of_target ? &comparison_.golden_leaf(pair) : nullptr;
  const read::DumpModel& target = *comparison_.target;
  const read::DumpModel& golden = *comparison_.golden;
  const ColumnId id = columns_[column];
  scratch.text.clear();
  switch (id) {
    case ColumnId::kMaxDiff:
    case ColumnId::kMinDiff:
    case ColumnId::kMeanDiff:
    case ColumnId::kNormDiff:
    case ColumnId::kMaxRelative:
    case ColumnId::kMinRelative:
    case ColumnId::kMeanRelative:
    case ColumnId::kNormRelative: {
      if (!matched) {
        return text_cell(kNotAvailable);
      }
      const std::size_t place = offset(id, ColumnId::kMaxDiff);
      const std::size_t statistic = place % read::kStatistics;
      return of_difference(difference(target.number(*left, statistic), golden.number(*right, statistic)),
                           place >= read::kStatistics, scratch);
    }
    case ColumnId::kTargetMax:
    case ColumnId::kTargetMin:
    case ColumnId::kTargetMean:
    case ColumnId::kTargetNorm:
      return left == nullptr ? text_cell(kNotAvailable)
                             : of_statistic(target.number(*left, offset(id, ColumnId::kTargetMax)), scratch);
    case ColumnId::kGoldenMax:
    case ColumnId::kGoldenMin:
    case ColumnId::kGoldenMean:
    case ColumnId::kGoldenNorm:
      return right == nullptr ? text_cell(kNotAvailable)
                              : of_statistic(golden.number(*right, offset(id, ColumnId::kGoldenMax)), scratch);
    case ColumnId::kCosine:
    case ColumnId::kEuclidean:
    case ColumnId::kMaxAbs:
    case ColumnId::kMaxRelativeOfTensor:
    case ColumnId::kOneThousandth:
    case ColumnId::kFiveThousandths:
      return of_metric(metrics(row), static_cast<Metric>(offset(id, ColumnId::kCosine)), scratch);
    case ColumnId::kGradConsistent: {  // of the two cells' texts, where a side has no row too
      const auto grad = [](const Leaf* leaf) { return leaf == nullptr ? read::RequiresGrad::kAbsent : leaf->requires_grad; };
      return text_cell(grad(left) == grad(right) ? "True" : "False");
    }
    case ColumnId::kResult:
      return text_cell(result_name(row.result));
    case ColumnId::kMessage: {
      scratch.text += '[';
      for (const std::string& text : messages(comparison_, row, metrics(row))) {
        scratch.text += scratch.text.size() == 1 ? "" : ", ";
        dump::append_json_string(scratch.text, text);
      }
      scratch.text += ']';
      return text_cell(scratch.text);
    }
    case ColumnId::kStack: {
      const std::string_view lines = row.starts_op && left != nullptr && comparison_.stack != nullptr
                                         ? comparison_.stack->find(target.op_name(*left))
                                         : "";
      return text_cell(lines.empty() ? kNotAvailable : lines);
    }
    case ColumnId::kDataName:
      scratch.text += '[';
      append_data_name(scratch.text, target, left);
      scratch.text += ", ";
      append_data_name(scratch.text, golden, right);
      scratch.text += ']';
      return text_cell(scratch.text);
    case ColumnId::kWorstIndex: {
      const TensorMetrics* const found = metrics(row);
      return text_cell(found == nullptr || found->worst_index.empty() ? kNotAvailable : std::string_view(found->worst_index));
    }
    case ColumnId::kWorstTarget:
    case ColumnId::kWorstGolden:
      return of_worst_value(metrics(row), id == ColumnId::kWorstTarget);
    case ColumnId::kWorstUlp: {
      const TensorMetrics* const found = metrics(row);
      return found == nullptr || !found->worst_ulp ? text_cell(kNotAvailable) : of_count(*found->worst_ulp, scratch);
    }
    case ColumnId::kOverTolerance: {
      const TensorMetrics* const found = metrics(row);
      return found == nullptr || found->elements == 0 ? text_cell(kNotAvailable)
                                                      : of_count(static_cast<std::uint64_t>(found->over_tolerance), scratch);
    }
    default:
      break;
  }
  if (is_cell_of_golden(id)) {
    return right == nullptr ? text_cell(kNotAvailable) : of_leaf(golden, *right, of_target(id), scratch);
  }
  return left == nullptr ? text_cell(kNotAvailable) : of_leaf(target, *left, id, scratch);
}

Distance ComparedBlock::distance(std::size_t row_number) const {
  const RowPair& pair = rows_[row_number].pair;
  if (!is_matched(pair)) {
    return {};
  }
  const Leaf& left = comparison_.target_leaf(pair);
  const Leaf& right = comparison_.golden_leaf(pair);
  if (left.kind != read::LeafKind::kTensor || right.kind != read::LeafKind::kTensor) {
    return {};
  }
  if (comparison_.is_by_chance(pair)) {
    return {DistanceKind::kChance, 0};
  }
  const divergence::Place place =
      divergence::measure(divergence::view_leaf(*comparison_.target, left, comparison_.target_dtypes[left.dtype]),
                          divergence::view_leaf(*comparison_.golden, right, comparison_.golden_dtypes[right.dtype]));
  switch (place.finding) {
    case divergence::Finding::kSkipped:
      return {};
    case divergence::Finding::kDistance:
    case divergence::Finding::kSame:
      return {DistanceKind::kNumber, static_cast<double>(place.distance)};
    case divergence::Finding::kDiffers:
      return {DistanceKind::kDiffers, 0};
    default:
      return {DistanceKind::kHard, 0};
  }
}

std::int64_t ComparedBlock::moment(std::size_t row_number) const {
  const RowPair& pair = rows_[row_number].pair;
  return is_matched(pair) || pair.of_target ? comparison_.target->moment_of(comparison_.target_leaf(pair)) : -1;
}

const read::Counts* ComparedBlock::special_values(std::size_t row_number, bool of_target) const {
  const RowPair& pair = rows_[row_number].pair;
  if (!is_matched(pair) && pair.of_target != of_target) {
    return nullptr;
  }
  return of_target ? comparison_.target->counts_of(comparison_.target_leaf(pair))
                   : comparison_.golden->counts_of(comparison_.golden_leaf(pair));
}

}  // namespace msprobe::compare

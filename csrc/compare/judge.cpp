// SPDX-License-Identifier: Apache-2.0
// The rules over rows of statistics; the saved tensors of a row are read here as well.
#include "compare/judge.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compare/measures.h"

namespace msprobe::compare {
namespace {

using read::Leaf;
using read::LeafKind;
using read::Section;

constexpr double kGoodInput = 0.1;
constexpr double kBadOutput = 0.5;
constexpr double kGrowth = 10;
constexpr double kGoodRatio = 0.9;
constexpr double kBadRatio = 0.6;
constexpr double kCosineDrop = 0.1;
constexpr std::string_view kNotAvailable = "N/A";

// Operators whose results mean nothing by themselves: uninitialised memory, or a copy into what is another type by intention.
constexpr std::array<std::string_view, 9> kNotJudged = {"empty",     "empty_like",        "numpy",
                                                        "to",        "__setitem__",       "empty_with_format",
                                                        "new_empty", "new_empty_strided", "empty_strided"};
// Collectives whose inputs are buffers that the call fills.
constexpr std::array<std::string_view, 4> kOutputsOnly = {"_reduce_scatter_base", "_all_gather_base", "all_to_all_single",
                                                          "batch_isend_irecv"};

enum class Scope : std::uint8_t { kAll, kOutputs, kNone };

template <std::size_t kSize>
bool contains(const std::array<std::string_view, kSize>& all, std::string_view text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

bool is_output(const Leaf& leaf) { return leaf.section == Section::kOutput; }

class OpJudge {
 public:
  OpJudge(const Comparison& comparison, std::vector<TensorMetrics>& metrics)
      : comparison_(comparison), target_(*comparison.target), golden_(*comparison.golden), metrics_(metrics) {}

  void judge_op(std::span<JudgedRow> rows) {
    rows.front().starts_op = true;
    const Scope scope = scope_of(rows);
    measures_.assign(rows.size(), {});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      JudgedRow& row = rows[i];
      broken(row);
      if (!is_matched(row.pair)) {
        row.rules |= bit(Rule::kUnmatched);
        if (scope == Scope::kAll && row.pair.of_target && target_not_finite(row)) {
          row.rules |= bit(Rule::kTargetNotFinite);
        }
        continue;
      }
      notes(row);
      measure(row, measures_[i]);
      if (comparison_.table.mode == Mode::kTensor) {
        tensors(row, scope);
      }
    }
    if (comparison_.table.mode == Mode::kMd5) {
      judge_checksums(rows, scope);
    } else if (scope != Scope::kNone) {
      judge_statistics(rows, scope);
    }
    for (JudgedRow& row : rows) {
      finish(row);
    }
  }

 private:
  [[nodiscard]] const Leaf& target(const JudgedRow& row) const { return comparison_.target_leaf(row.pair); }
  [[nodiscard]] const Leaf& golden(const JudgedRow& row) const { return comparison_.golden_leaf(row.pair); }

  Scope scope_of(std::span<const JudgedRow> rows) const {
    for (const JudgedRow& row : rows) {
      if (!row.pair.of_target || is_output(target(row))) {
        continue;
      }
      std::string name;
      target_.append_row_name(name, target(row));
      const std::size_t dot = name.find('.');
      std::string_view part = dot == std::string::npos ? std::string_view{} : std::string_view(name).substr(dot + 1);
      part = part.substr(0, part.find('.'));
      if (contains(kNotJudged, part)) {
        return Scope::kNone;
      }
      return contains(kOutputsOnly, part) ? Scope::kOutputs : Scope::kAll;
    }
    return Scope::kAll;
  }

  void broken(JudgedRow& row) const {
    const bool left = row.pair.of_target || is_matched(row.pair);
    if (left && target_.extra(target(row)).problem != 0) {
      row.rules |= bit(Rule::kTargetBroken);
    }
    if ((!row.pair.of_target || is_matched(row.pair)) && golden_.extra(golden(row)).problem != 0) {
      row.rules |= bit(Rule::kGoldenBroken);
    }
  }

  void notes(JudgedRow& row) const {
    if (row.pair.state == MatchState::kFuzzy) {
      row.rules |= bit(Rule::kFuzzy);
    }
    const read::TextId left = target_.extra(target(row)).note;
    const read::TextId right = golden_.extra(golden(row)).note;
    if (target_.text(left) != golden_.text(right)) {
      row.rules |= bit(Rule::kNotes);
    }
  }

  void measure(JudgedRow& row, Measures& measures) const {
    measures = compare::measure(target_, target(row), golden_, golden(row));
    for (const double scaled : measures.scaled) {
      row.largest = std::max(row.largest, static_cast<float>(scaled));
    }
    row.norm = static_cast<float>(measures.scaled[read::kNorm]);
  }

  static bool is_not_finite(const read::Number& number) {
    const ValueClass value_class = classify(number).value_class;
    return value_class == ValueClass::kNan || value_class == ValueClass::kPosInf || value_class == ValueClass::kNegInf;
  }
  bool target_not_finite(const JudgedRow& row) const {
    const auto any = [](const read::DumpModel& model, const Leaf& leaf) {
      return is_not_finite(model.number(leaf, read::kMax)) || is_not_finite(model.number(leaf, read::kMin));
    };
    return any(target_, target(row)) && !(is_matched(row.pair) && any(golden_, golden(row)));
  }

  void judge_statistics(std::span<JudgedRow> rows, Scope scope) {
    const bool tensor_mode = comparison_.table.mode == Mode::kTensor;
    double norm = 0;  // the worst of the inputs: an op without inputs counts as one with perfect ones
    double thousandth = 1;
    double cosine = 1;
    std::array<double, read::kStatistics> scaled{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const JudgedRow& row = rows[i];
      if (!is_matched(row.pair) || is_output(target(row))) {
        continue;
      }
      norm = std::max(norm, measures_[i].percent_norm);
      for (std::size_t statistic = 0; statistic < read::kStatistics; ++statistic) {
        scaled[statistic] = std::max(scaled[statistic], measures_[i].scaled[statistic]);
      }
      if (tensor_mode && row.metrics != ~0U) {
        const auto number = [&](Metric metric) { return metric_cell(metrics_[row.metrics], metric).number; };
        thousandth = std::min(thousandth, number(Metric::kOneThousandth).value_or(1));
        cosine = std::min(cosine, number(Metric::kCosine).value_or(1));
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      JudgedRow& row = rows[i];
      if (!is_matched(row.pair)) {
        continue;
      }
      const bool output = is_output(target(row));
      if (!output && scope == Scope::kOutputs) {
        continue;
      }
      each_row(row, measures_[i]);
      if (scope == Scope::kOutputs) {
        continue;
      }
      if (!output) {
        scalar(row, measures_[i]);
      } else if (tensor_mode) {
        tensor_output(row, thousandth, cosine);
      } else {
        output_norm(row, measures_[i], norm);
        output_others(row, measures_[i], scaled);
      }
    }
  }

  // Rules that look at the row alone.
  void each_row(JudgedRow& row, const Measures& measures) const {
    const Leaf& left = target(row);
    const Leaf& right = golden(row);
    if (target_not_finite(row)) {
      row.rules |= bit(Rule::kTargetNotFinite);
    }
    meta(row);
    // A value that is no tensor has the same number four times.
    const std::size_t judged = left.kind == LeafKind::kTensor || right.kind == LeafKind::kTensor ? read::kStatistics : 1;
    for (std::size_t statistic = 0; statistic < judged; ++statistic) {
      const DifferenceKind kind = measures.differences[statistic].kind;
      if (kind == DifferenceKind::kNotFinite || kind == DifferenceKind::kOther) {
        row.rules |= bit(Rule::kMaxClass) << statistic;
      }
    }
    counts(row);
  }

  void meta(JudgedRow& row) const {
    const Leaf& left = target(row);
    const Leaf& right = golden(row);
    if (left.kind == LeafKind::kBroken || right.kind == LeafKind::kBroken) {
      return;
    }
    if (comparison_.judges_grad && left.requires_grad != right.requires_grad) {
      row.rules |= bit(Rule::kRequiresGrad);
    }
    if (target_.dtypes[left.dtype] != golden_.dtypes[right.dtype]) {
      row.rules |= bit(Rule::kDtype);
    }
    if (target_.shapes[left.shape] != golden_.shapes[right.shape]) {
      row.rules |= bit(Rule::kShape);
    }
  }

  void counts(JudgedRow& row) const {
    const read::Counts* const left = target_.counts_of(target(row));
    const read::Counts* const right = golden_.counts_of(golden(row));
    if (left == nullptr || right == nullptr) {
      return;
    }
    for (const auto member : {&read::Counts::nan, &read::Counts::pos_inf, &read::Counts::neg_inf}) {
      if ((left->*member == 0) != (right->*member == 0)) {
        row.rules |= bit(Rule::kCountsPresence);
      } else if (left->*member != right->*member) {
        row.rules |= bit(Rule::kCountsDiffer);
      }
    }
  }

  // Values that are no tensors must be equal: numbers, texts, slices, groups of ranks.
  void scalar(JudgedRow& row, const Measures& measures) const {
    const Leaf& left = target(row);
    const Leaf& right = golden(row);
    const auto is_value = [](const Leaf& leaf) {
      return leaf.kind == LeafKind::kValue || leaf.kind == LeafKind::kProcessGroup;
    };
    if (!is_value(left) || !is_value(right)) {
      return;
    }
    const bool is_number = measures.differences[read::kMax].kind == DifferenceKind::kNumbers;
    const bool same_value = target_.text(target_.extra(left).value) == golden_.text(golden_.extra(right).value);
    const bool same_number = measures.differences[read::kMax].kind == DifferenceKind::kEqual;
    const bool has_number = left.kinds[read::kMax] != read::NumberKind::kNull;
    if (is_number || (has_number ? !same_number : !same_value)) {
      row.rules |= bit(Rule::kScalar);
      row.rules &= ~bit(Rule::kMaxClass);  // says the same
    }
  }

  static void output_norm(JudgedRow& row, const Measures& measures, double inputs) {
    const Difference& norm = measures.differences[read::kNorm];
    const bool infinite = (norm.kind == DifferenceKind::kNumbers && norm.golden_zero) ||
                          (norm.kind == DifferenceKind::kNotFinite && std::isinf(norm.difference));
    if (inputs < kGoodInput && (infinite || measures.percent_norm > kBadOutput)) {
      row.rules |= bit(Rule::kOutputNorm);
    }
    if (inputs == 0 ? measures.percent_norm > kGoodInput : measures.percent_norm / inputs > kGrowth) {
      row.rules |= bit(Rule::kNormGrowth);
    }
  }

  // The norm's error rule for the other three, against scales that do not vanish where a value happens to be near zero.
  void output_others(JudgedRow& row, const Measures& measures, const std::array<double, read::kStatistics>& inputs) const {
    const Leaf& left = target(row);
    const Leaf& right = golden(row);
    if (!is_float_dtype(target_.dtypes[left.dtype]) || !is_float_dtype(golden_.dtypes[right.dtype]) ||
        left.kind != LeafKind::kTensor || right.kind != LeafKind::kTensor) {
      return;
    }
    for (std::size_t statistic = read::kMax; statistic <= read::kMean; ++statistic) {
      if (measures.differences[statistic].kind == DifferenceKind::kNumbers && inputs[statistic] < kGoodInput &&
          measures.scaled[statistic] > kBadOutput) {
        row.rules |= bit(Rule::kOutputMax) << statistic;
      }
    }
  }

  void tensor_output(JudgedRow& row, double thousandth, double cosine) const {
    if (row.metrics == ~0U) {
      return;
    }
    const auto number = [&](Metric metric) { return metric_cell(metrics_[row.metrics], metric).number; };
    if (thousandth > kGoodRatio && number(Metric::kOneThousandth).value_or(1) < kBadRatio) {
      row.rules |= bit(Rule::kOutputThousandth);
    }
    if (cosine > kGoodRatio && cosine - number(Metric::kCosine).value_or(1) > kCosineDrop) {
      row.rules |= bit(Rule::kCosineDrop);
    }
  }

  void tensors(JudgedRow& row, Scope scope) {
    const Leaf& left = target(row);
    const Leaf& right = golden(row);
    const read::TextId left_name = target_.extra(left).data_name;
    const read::TextId right_name = golden_.extra(right).data_name;
    TensorMetrics metrics;
    if (left_name == 0 || right_name == 0) {
      metrics = unsupported_metrics(
          left_name == right_name ? std::string{} : std::string(left_name == 0 ? "NPU" : "Bench") + " has no saved tensor");
    } else {
      metrics = compare_tensor_files(comparison_.target_tensors, target_.text(left_name), comparison_.golden_tensors,
                                     golden_.text(right_name), comparison_.tolerance, comparison_.threads_a_tensor);
    }
    row.metrics = static_cast<std::uint32_t>(metrics_.size());
    const bool is_tensor = left.kind == LeafKind::kTensor && right.kind == LeafKind::kTensor;
    const bool empty = is_tensor && element_count(target_, left) == 0 && element_count(golden_, right) == 0;
    const bool judged = scope == Scope::kAll || (scope == Scope::kOutputs && is_output(left));
    if (left_name == 0 && right_name == 0) {
      // Of parameters dumps of tensors hold statistics alone.
      row.rules |= judged && is_tensor && left.section != Section::kParameters ? bit(Rule::kTensorNotSaved) : 0;
    } else if (judged && is_tensor && !empty && !metrics.reason.empty()) {
      row.rules |= bit(Rule::kTensorFailed);
    }
    metrics_.push_back(std::move(metrics));
  }

  void judge_checksums(std::span<JudgedRow> rows, Scope scope) {
    for (JudgedRow& row : rows) {
      if (!is_matched(row.pair) || scope == Scope::kNone || (scope == Scope::kOutputs && !is_output(target(row)))) {
        continue;
      }
      const std::string_view left = checksum_text(target_, target(row), left_memory_);
      const std::string_view right = checksum_text(golden_, golden(row), right_memory_);
      const auto is_missing = [](std::string_view text) { return text.empty() || text == kNotAvailable || text == "Nan"; };
      if (is_missing(left) && is_missing(right)) {
        const bool null = target(row).kind == LeafKind::kNull && golden(row).kind == LeafKind::kNull;
        row.rules |= null ? 0 : bit(Rule::kMd5Nowhere);
      } else if (is_missing(left) || is_missing(right)) {
        row.rules |= bit(Rule::kMd5Missing);
      } else if (left != right) {
        row.rules |= bit(Rule::kMd5);
      }
      meta(row);
    }
  }

  static void finish(JudgedRow& row) {
    const bool broken = (row.rules & (bit(Rule::kTargetBroken) | bit(Rule::kGoldenBroken))) != 0;
    row.result = is_matched(row.pair) || broken ? result_of(row.rules) : Result::kUnmatched;
  }

  const Comparison& comparison_;
  const read::DumpModel& target_;
  const read::DumpModel& golden_;
  std::vector<TensorMetrics>& metrics_;
  std::vector<Measures> measures_;
  std::string left_memory_;
  std::string right_memory_;
};

}  // namespace

void judge(const Comparison& comparison, std::span<const RowPair> pairs, std::vector<JudgedRow>& rows,
           std::vector<TensorMetrics>& metrics) {
  rows.clear();
  rows.reserve(pairs.size());
  for (const RowPair& pair : pairs) {
    rows.push_back({.pair = pair});
  }
  OpJudge op_judge(comparison, metrics);
  std::size_t begin = 0;
  while (begin < rows.size()) {
    std::size_t end = begin + 1;
    const auto same_op = [&](const RowPair& first, const RowPair& other) {
      return first.of_target && other.of_target && comparison.target_leaf(first).op == comparison.target_leaf(other).op;
    };
    while (end < rows.size() && same_op(rows[begin].pair, rows[end].pair)) {
      ++end;
    }
    op_judge.judge_op(std::span(rows).subspan(begin, end - begin));
    begin = end;
  }
}

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// The texts of Err_message: fixed ones, and those that tell what was where.
#include <array>
#include <string>

#include "compare/block.h"
#include "read/python_text.h"

namespace msprobe::compare {
namespace {

constexpr std::array<std::string_view, read::kStatistics> kStatisticNames = {"Max", "Min", "Mean", "Norm"};

class Teller {
 public:
  Teller(const Comparison& comparison, const JudgedRow& row, const TensorMetrics* metrics)
      : target_(*comparison.target), golden_(*comparison.golden), row_(row), metrics_(metrics) {}

  std::string text(Rule rule) const {
    switch (rule) {
      case Rule::kTargetBroken:
        return "error: The entry of NPU is broken: " + std::string(target_.text(target_.extra(left()).problem)) + ".";
      case Rule::kGoldenBroken:
        return "error: The entry of Bench is broken: " + std::string(golden_.text(golden_.extra(right()).problem)) + ".";
      case Rule::kMaxClass:
      case Rule::kMinClass:
      case Rule::kMeanClass:
      case Rule::kNormClass:
        return other_class(static_cast<std::size_t>(rule) - static_cast<std::size_t>(Rule::kMaxClass));
      case Rule::kOutputMax:
      case Rule::kOutputMin:
      case Rule::kOutputMean:
        return output(static_cast<std::size_t>(rule) - static_cast<std::size_t>(Rule::kOutputMax));
      case Rule::kCountsPresence:
      case Rule::kCountsDiffer:
        return counts(rule == Rule::kCountsPresence ? "error" : "warning");
      case Rule::kTensorFailed:
        return "error: The saved tensors were not compared: " + metrics_->reason;
      case Rule::kUnmatched:
        return unmatched();
      case Rule::kFuzzy:
        return "note: Matched by -fm under different names.";
      case Rule::kNotes:
        return notes();
      default:
        return std::string(fixed_text(rule));
    }
  }

 private:
  [[nodiscard]] const read::Leaf& left() const { return target_.leaves[row_.pair.target]; }
  [[nodiscard]] const read::Leaf& right() const { return golden_.leaves[row_.pair.golden]; }

  std::string other_class(std::size_t statistic) const {
    std::string text = "error: The ";
    text += left().kind == read::LeafKind::kTensor || right().kind == read::LeafKind::kTensor ? kStatisticNames[statistic]
                                                                                              : "value";
    text += " of NPU is ";
    append_told(text, target_.number(left(), statistic));
    text += " where Bench has ";
    append_told(text, golden_.number(right(), statistic));
    return text + ".";
  }

  std::string output(std::size_t statistic) const {
    std::string text = "error: The ";
    text += kStatisticNames[statistic];
    text += " of output differs by more than half of Bench's ";
    text += statistic == read::kMean ? "root mean square" : "largest magnitude";
    return text + ".";
  }

  std::string counts(std::string_view level) const {
    const auto side = [](std::string& text, const read::Counts& counts) {
      read::append_python_int(text, counts.nan);
      text += " NaN, ";
      read::append_python_int(text, counts.pos_inf);
      text += " +Inf, ";
      read::append_python_int(text, counts.neg_inf);
      text += " -Inf";
    };
    std::string text(level);
    text += ": NPU has ";
    side(text, *target_.counts_of(left()));
    text += " where Bench has ";
    side(text, *golden_.counts_of(right()));
    return text + ".";
  }

  std::string unmatched() const {
    const bool of_target = row_.pair.of_target;
    if (row_.pair.state == MatchState::kCrowded) {
      return "No NPU data matched: " + std::to_string(kMostPartners) + " rows of Bench before it have its name.";
    }
    if (row_.pair.state != MatchState::kOtherDtype) {
      return of_target ? "No bench data matched: Bench has no row of this name."
                       : "No NPU data matched: NPU has no row of this name.";
    }
    std::string text = of_target ? "No bench data matched: dtype " : "No NPU data matched: dtype ";
    text += target_.dtypes[left().dtype];
    text += " of NPU v ";
    text += golden_.dtypes[right().dtype];
    return text + " of Bench.";
  }

  std::string notes() const {
    std::string text = "note: NPU: ";
    const std::string_view left_note = target_.text(target_.extra(left()).note);
    const std::string_view right_note = golden_.text(golden_.extra(right()).note);
    text += left_note.empty() ? "no note" : left_note;
    text += "; Bench: ";
    text += right_note.empty() ? "no note" : right_note;
    return text;
  }

  const read::DumpModel& target_;
  const read::DumpModel& golden_;
  const JudgedRow& row_;
  const TensorMetrics* metrics_;
};

}  // namespace

std::vector<std::string> messages(const Comparison& comparison, const JudgedRow& row, const TensorMetrics* metrics) {
  const Teller teller(comparison, row, metrics);
  std::vector<std::string> texts;
  for (unsigned rule = 0; rule <= static_cast<unsigned>(Rule::kNotes); ++rule) {
    if ((row.rules >> rule & 1U) != 0) {
      texts.push_back(teller.text(static_cast<Rule>(rule)));
    }
  }
  return texts;
}

}  // namespace msprobe::compare

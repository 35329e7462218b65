// SPDX-License-Identifier: Apache-2.0
// Verdicts in English. Every sentence of the divergence stands in this file.
#include "compare/divergence_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "compare/divergence_calls.h"
#include "compare/divergence_rule.h"
#include "compare/divergence_words.h"

namespace msprobe::compare::divergence {
namespace {

// Three digits are what a reader takes in; the rows have them all.
std::string number(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "+Inf" : "-Inf";
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 3).ptr;
  return {digits.data(), end};
}

// As many digits as it takes to tell two numbers apart, up to all.
std::pair<std::string, std::string> both(double target, double golden) {
  std::array<char, 32> digits{};
  const auto with = [&](double value, int precision) {
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, precision).ptr;
    return std::string(digits.data(), end);
  };
  if (!std::isfinite(target) || !std::isfinite(golden)) {
    return {number(target), number(golden)};
  }
  const auto is_whole = [](double value) { return std::trunc(value) == value && std::abs(value) < 1e15; };
  if (is_whole(target) && is_whole(golden)) {
    return {with(target, 15), with(golden, 15)};
  }
  for (int precision = 3; precision < 17; ++precision) {
    if (with(target, precision) != with(golden, precision)) {
      return {with(target, precision + 1), with(golden, precision + 1)};
    }
  }
  return {with(target, 17), with(golden, 17)};
}

std::string counted(std::int64_t count, std::string_view one, std::string_view several) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

std::string_view name_of(Statistic statistic) { return word::kStatistics.at(static_cast<std::size_t>(statistic)); }

std::string tensor_of(const Spot& spot) {
  std::string text(word::kSections.at(static_cast<std::size_t>(spot.section)));
  if (!spot.path.empty()) {
    text += " " + spot.path;
  }
  return text + " of " + spot.call;
}

// What was seen there.
std::string seen(const Spot& spot) {
  switch (spot.finding) {
    case Finding::kShape:
      return spot.target_shape.empty() ? "its shape is not golden's"
                                       : "shape " + spot.target_shape + ", golden " + spot.golden_shape;
    case Finding::kMissing:
      return spot.target_dtype.empty() ? "only golden has this tensor" : "only the target has this tensor";
    case Finding::kDiffers:
      return "integers that must be equal differ" +
             (spot.target && spot.golden
                  ? " (" + std::string(name_of(spot.statistic)) + " " + both(*spot.target, *spot.golden).first + ", golden " +
                        both(*spot.target, *spot.golden).second + ")"
                  : std::string());
    default:
      break;
  }
  std::string text;
  if (spot.target && spot.golden) {
    const auto [target, golden] = both(*spot.target, *spot.golden);
    text = std::string(name_of(spot.statistic)) + " " + target + ", golden " + golden;
  }
  if (spot.finding == Finding::kNotFinite) {
    return text.empty() ? "values that are not finite on one side" : text;
  }
  if (spot.finding == Finding::kGoldenZero) {
    return text.empty() ? "golden is all zero, the target is not" : text + " (all zero)";
  }
  text += text.empty() ? "" : "; ";
  text += spot.statistic == Statistic::kRelativeL2 ? std::string(name_of(spot.statistic)) : "E";
  text += " " + number(spot.distance);
  if (spot.where == Where::kParameter) {
    return text + " is " + number(spot.ratio) + " units, a cast leaves at most " + number(kParameterLimit);
  }
  return text + " is " + number(spot.ratio) + " x the noise so far (" + number(spot.noise) + ")";
}

std::string where_to_look(const Spot& spot) {
  const CallName name = parse_call_name(spot.call);
  const std::string here = name.qualified == kRootName ? "the model" : std::string(name.qualified);
  const std::string code = spot.code == kRootName ? "the model" : spot.code;
  switch (spot.where) {
    case Where::kCall:
      return "look inside " + here;
    case Where::kTail:
      return "look in the own code of " + here + ", after its last child";
    case Where::kBefore:
      return (code.empty() ? "look in what ran" : "look in the own code of " + code) + " before " + here +
             " (residual, rotation, softmax, mask, cache), since all outputs before it were fine";
    case Where::kCaller:
      return "look at the caller: its inputs differ";
    case Where::kParameter:
      return "look at how this weight is loaded";
  }
  return {};
}

std::string operator_text(const Spot& spot, const OperatorSpot& op) {
  const std::string distance = std::isinf(op.distance) ? "a hard difference" : "E " + number(op.distance);
  if (!op.clear && !(spot.only_target.empty() && spot.only_golden.empty())) {
    return "; of the operators inside that both sides have, none stands out";  // the riders tell the others
  }
  if (!op.clear) {
    return "; no operator inside stands out, the largest step is at " + op.call + " (" + distance + ")";
  }
  if (op.by_input) {
    return "; the first operator with a bad input is " + op.call + " (" + distance + ")";
  }
  return "; the first operator with a bad output is " + op.call + " (" + distance + ")";
}

std::string begin_of(Grade grade) {
  switch (grade) {
    case Grade::kFault:
      return "First fault";
    case Grade::kSuspect:
      return "First suspect";
    default:
      return "Hint";
  }
}

std::string spot_sentence(const Spot& spot) {
  if (spot.where == Where::kParameter) {
    return "Suspect weight: " + tensor_of(spot) + ": " + seen(spot) + "; " + where_to_look(spot) + ".";
  }
  std::string text =
      begin_of(spot.grade) + ": first visible at " + tensor_of(spot) + ": " + seen(spot) + "; " + where_to_look(spot);
  if (spot.op) {
    text += operator_text(spot, *spot.op);
  }
  return text + ".";
}

std::string type_name(DType dtype) {
  const std::string_view name = dtype_name(dtype);
  return std::string(name.substr(name.rfind('.') + 1));
}

std::string nothing_found(const Verdict& verdict) {
  if (verdict.judged == 0 && verdict.parameters_judged == 0) {
    return "Nothing to judge: no input or output of a call has numbers on both sides.";
  }
  std::string text = "No jump above " + number(kLimit) + " x noise; noise ended at B = " + number(verdict.statistics.noise_end);
  if (verdict.elements) {
    text += ", and no jump of the relative L2 error above " + number(kElementsLimit) + " x, which ended at " +
            number(verdict.elements->noise_end);
  }
  return text + " (" + counted(verdict.calls, "call", "calls") + ", " + type_name(verdict.target_type) + " against " +
         type_name(verdict.golden_type) + ").";
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ", ") + text;
  }
  return all;
}

void add_spot_riders(const Spot& spot, std::vector<std::string>& riders) {
  if (spot.may_have_started_earlier) {
    riders.push_back(spot.noise >= kSaturated && spot.statistic != Statistic::kRelativeL2
                         ? "It may have started earlier: noise had reached B = " + number(spot.noise) + " before it."
                         : "It may have started earlier: the step is small.");
  }
  if (spot.unmatched_before > 0) {
    riders.push_back(counted(spot.unmatched_before, "call without a partner ran", "calls without partners ran") +
                     " since the last place that was fine: it may have started there.");
  }
  if (spot.inputs_by_statistics) {
    riders.emplace_back(
        "Its inputs are fine as far as their statistics show, and the same elements in another order have the same ones: save "
        "the "
        "input with acl_save before you blame the weight.");
  }
  if (!spot.only_target.empty()) {
    riders.push_back("Operators there that golden does not have: " + joined(spot.only_target) + ".");
  }
  if (!spot.only_golden.empty()) {
    riders.push_back("Operators of golden that are missing there: " + joined(spot.only_golden) + ".");
  }
}

// The spots that the sentence does not tell of.
void add_other_spots(const Verdict& verdict, const Spot* told, std::vector<std::string>& riders) {
  const auto add = [&](std::string_view by, const std::optional<Spot>& spot) {
    if (spot && &*spot != told) {
      riders.push_back(std::string(by) + spot_sentence(*spot));
    }
  };
  const std::string_view by_statistics = verdict.elements ? "By the statistics: " : "";
  add(by_statistics, verdict.statistics.suspect);
  add(by_statistics, verdict.statistics.fault);
  if (verdict.elements) {
    add("By the elements: ", verdict.elements->suspect);
    add("By the elements: ", verdict.elements->fault);
  }
  for (const Spot& hint : verdict.statistics.hints) {
    riders.push_back(spot_sentence(hint));
  }
}

std::string label_of(const AcrossRanks::Rank& rank) {
  return rank.name + " (" + rank.call + (rank.received ? ", from outside or through a collective" : "") + ")";
}

}  // namespace

std::string sentence(const Verdict& verdict) {
  const Spot* spot = verdict.first();
  return spot != nullptr ? spot_sentence(*spot) : nothing_found(verdict);
}

std::vector<std::string> riders(const Verdict& verdict) {
  std::vector<std::string> riders;
  const Spot* spot = verdict.first();
  if (spot != nullptr) {
    add_spot_riders(*spot, riders);
  }
  if (verdict.parameters_off > 1) {
    riders.push_back(std::to_string(verdict.parameters_off) + " of " + std::to_string(verdict.parameters_judged) +
                     " parameters differ by more than a cast does.");
  }
  if (verdict.parameters_not_comparable > 0) {
    riders.push_back(counted(verdict.parameters_not_comparable, "parameter has", "parameters have") +
                     " another shape or type on one side and cannot be compared (fused, sharded or quantised weights).");
  }
  if (spot != nullptr && spot->where == Where::kParameter && verdict.statistics.first() == nullptr &&
      (!verdict.elements || verdict.elements->first() == nullptr)) {
    riders.push_back("Of inputs and outputs: " + nothing_found(verdict));
  }
  add_other_spots(verdict, spot, riders);
  if (!verdict.statistics.saturated_at.empty()) {
    riders.push_back("From " + verdict.statistics.saturated_at + " on only scale faults are visible in the statistics (B >= " +
                     number(kSaturated) + "): a wrong tensor with the right distribution is not.");
  }
  if (verdict.discrete > 0) {
    riders.push_back(counted(verdict.discrete, "discrete choice", "discrete choices") +
                     " (top-k, argmax, routing) came out differently, first at " + verdict.first_discrete +
                     ": no fault by itself, near ties noise decides.");
  }
  if (spot != nullptr && verdict.through_collective) {
    riders.emplace_back("What differs came through a collective: another rank sent it.");
  }
  if (verdict.backward) {
    riders.emplace_back("This is in the backward pass, for which the limits were not measured.");
  }
  if (!verdict.ordered && verdict.judged > 0) {
    riders.emplace_back(
        "The target's dump has no order of execution: that of the file and the nesting of the names stand in for it.");
  }
  if (verdict.unmatched > 0) {
    riders.push_back(counted(verdict.unmatched, "call of the target has no partner", "calls of the target have no partners") +
                     " and could not be judged.");
  }
  if (spot != nullptr && spot->where != Where::kParameter && spot->grade == Grade::kFault) {
    riders.emplace_back("What comes after it is not judged.");
  }
  return riders;
}

std::vector<std::string> chain(const Verdict& verdict) {
  std::vector<std::string> lines;
  const Spot* spot = verdict.first();
  if (spot == nullptr) {
    return lines;
  }
  const auto add = [&](std::string_view mark, const std::string& call, const std::optional<double>& distance) {
    std::string line(mark);
    line += call;
    if (distance) {
      line += std::isinf(*distance) ? "  hard difference" : "  " + number(*distance);
    }
    lines.push_back(std::move(line));
  };
  for (const std::string& outer : spot->around) {
    lines.push_back("in      " + outer);
  }
  for (const Link& link : spot->before) {
    add("before  ", link.call, link.distance);
  }
  add("here    ", spot->call, spot->distance);
  for (const Link& link : spot->after) {
    add("after   ", link.call, link.distance);
  }
  return lines;
}

std::vector<std::string> report(const Verdict& verdict) {
  std::vector<std::string> lines{sentence(verdict)};
  for (std::string& rider : riders(verdict)) {
    lines.push_back(std::move(rider));
  }
  for (std::string& link : chain(verdict)) {
    lines.push_back("  " + std::move(link));
  }
  return lines;
}

std::vector<std::string> report(const AcrossRanks& ranks) {
  if (ranks.first.empty()) {
    return {"No rank parts from golden above noise."};
  }
  std::vector<std::string> first;
  first.reserve(ranks.first.size());
  for (const std::size_t i : ranks.first) {
    first.push_back(label_of(ranks.ranks[i]));
  }
  std::string text = joined(first) + (first.size() == 1 ? " parted first" : " parted first, and nothing tells which of them");
  if (!ranks.any_collective) {
    text += ", by the place in the order of execution: no collective was recorded";
  } else if (ranks.shared_collective.empty()) {
    text += ", before the first collective";
  } else {
    text += ", after the last collective that all share, " + ranks.shared_collective;
  }
  std::vector<std::string> lines{text + "."};
  for (std::size_t i = 0; i < ranks.ranks.size(); ++i) {
    const AcrossRanks::Rank& rank = ranks.ranks[i];
    if (!rank.call.empty() && std::ranges::find(ranks.first, i) == ranks.first.end()) {
      lines.push_back(
          label_of(rank) + " parted " +
          (ranks.any_collective ? "after " + counted(rank.collectives, "collective", "collectives") + "." : "later."));
    }
  }
  return lines;
}

std::vector<std::string> report(const AcrossSteps& steps) {
  std::vector<std::string> lines;
  if (steps.first) {
    lines.push_back("The first step that parts is " + steps.steps[*steps.first].name + ", at " +
                    steps.steps[*steps.first].call + ".");
  } else {
    lines.emplace_back("No step parts from golden above noise.");
  }
  if (steps.growth) {
    lines.push_back("The largest relative error goes from " + number(steps.steps.front().largest) + " to " +
                    number(steps.steps.back().largest) + " over " +
                    counted(static_cast<std::int64_t>(steps.steps.size()), "step", "steps") + ", " + number(*steps.growth) +
                    " x a step.");
  }
  for (const AcrossSteps::Step& step : steps.steps) {
    lines.push_back("  " + step.name + ": " + number(step.largest) + (step.largest_at.empty() ? "" : " at " + step.largest_at));
  }
  return lines;
}

}  // namespace msprobe::compare::divergence

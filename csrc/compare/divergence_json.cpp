// SPDX-License-Identifier: Apache-2.0
// Verdicts as JSON.
#include <cmath>
#include <concepts>
#include <string_view>

#include "compare/divergence_text.h"
#include "compare/divergence_words.h"
#include "dump/json.h"
#include "format/fields.h"

namespace msprobe::compare::divergence {
namespace {

template <class Words, class Enumerator>
std::string_view word_of(const Words& words, Enumerator value) {
  return words.at(static_cast<std::size_t>(value));
}

void append_value(std::string& out, std::string_view text) { dump::append_json_string(out, text); }
void append_value(std::string& out, bool truth) { out += truth ? "true" : "false"; }
void append_value(std::string& out, std::int64_t number) { dump::append_json_number(out, number); }
void append_value(std::string& out, double number) {
  if (std::isfinite(number)) {
    dump::append_json_number(out, number);
  } else {
    append_value(out, std::isnan(number) ? field::kNan : number > 0 ? field::kPosInf : field::kNegInf);
  }
}
void append_value(std::string& out, const Link& link);
void append_value(std::string& out, const OperatorSpot& op);
void append_value(std::string& out, const Spot& spot);
void append_value(std::string& out, const Walk& walk);
void append_value(std::string& out, const AcrossRanks::Rank& rank);
void append_value(std::string& out, const AcrossSteps::Step& step);

void append_value(std::string& out, const std::string& text) { append_value(out, std::string_view(text)); }

template <class T>
void append_value(std::string& out, const std::optional<T>& value) {
  if (value) {
    append_value(out, *value);
  } else {
    out += "null";
  }
}

template <class T>
void append_value(std::string& out, const std::vector<T>& values) {
  out += '[';
  const char* separator = "";
  for (const T& value : values) {
    out += separator;
    append_value(out, value);
    separator = ", ";
  }
  out += ']';
}

// One object, member by member.
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { out_ += '}'; }

  template <class T>
  Object& add(std::string_view key, const T& value) {
    append_key(key);
    append_value(out_, value);
    return *this;
  }

  void append_key(std::string_view key) {
    out_ += separator_;
    separator_ = ", ";
    dump::append_json_string(out_, key);
    out_ += ": ";
  }

 private:
  std::string& out_;
  std::string_view separator_;
};

// An empty text says that it is not known, or that there is none.
std::optional<std::string> known(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

void append_value(std::string& out, const Link& link) {
  Object(out).add(word::kCall, link.call).add(word::kDistance, link.distance);
}

void append_value(std::string& out, const OperatorSpot& op) {
  Object(out)
      .add(word::kCall, op.call)
      .add(word::kGoldenCall, op.golden_call)
      .add(word::kClear, op.clear)
      .add(word::kByInput, op.by_input)
      .add(word::kDistance, op.distance)
      .add(word::kNoise, op.noise);
}

void append_value(std::string& out, const Spot& spot) {
  Object object(out);
  object.add(word::kGrade, word_of(word::kGrades, spot.grade))
      .add(word::kWhere, word_of(word::kWheres, spot.where))
      .add(word::kCode, known(spot.code))
      .add(word::kCall, spot.call)
      .add(word::kGoldenCall, spot.golden_call)
      .add(word::kSection, word_of(word::kSections, spot.section))
      .add(word::kPath, known(spot.path))
      .add(word::kFinding, word_of(word::kFindings, spot.finding))
      .add(word::kStatistic, word_of(word::kStatistics, spot.statistic))
      .add(word::kTarget, spot.target)
      .add(word::kGolden, spot.golden)
      .add(word::kTargetDtype, known(spot.target_dtype))
      .add(word::kGoldenDtype, known(spot.golden_dtype))
      .add(word::kTargetShape, known(spot.target_shape))
      .add(word::kGoldenShape, known(spot.golden_shape))
      .add(word::kDistance, spot.distance)
      .add(word::kNoise, spot.noise)
      .add(word::kRatio, spot.ratio)
      .add(word::kLimit, spot.limit)
      .add(word::kMayHaveStartedEarlier, spot.may_have_started_earlier)
      .add(word::kInputsByStatistics, spot.inputs_by_statistics)
      .add(word::kUnmatchedBefore, spot.unmatched_before)
      .add(word::kOperator, spot.op)
      .add(word::kOnlyTarget, spot.only_target)
      .add(word::kOnlyGolden, spot.only_golden)
      .add(word::kAround, spot.around)
      .add(word::kBefore, spot.before)
      .add(word::kAfter, spot.after);
}

void append_value(std::string& out, const Walk& walk) {
  Object(out)
      .add(word::kSuspect, walk.suspect)
      .add(word::kFault, walk.fault)
      .add(word::kHints, walk.hints)
      .add(word::kNoiseEnd, walk.noise_end)
      .add(word::kSaturatedAt, known(walk.saturated_at))
      .add(word::kLargest, walk.largest)
      .add(word::kLargestAt, known(walk.largest_at));
}

void append_value(std::string& out, const AcrossRanks::Rank& rank) {
  Object(out)
      .add(word::kName, rank.name)
      .add(word::kGrade, word_of(word::kGrades, rank.grade))
      .add(word::kCall, known(rank.call))
      .add(word::kCollectives, rank.collectives)
      .add(word::kReceived, rank.received);
}

void append_value(std::string& out, const AcrossSteps::Step& step) {
  Object(out)
      .add(word::kName, step.name)
      .add(word::kGrade, word_of(word::kGrades, step.grade))
      .add(word::kCall, known(step.call))
      .add(word::kLargest, step.largest)
      .add(word::kLargestAt, known(step.largest_at));
}

}  // namespace

void append_json(std::string& out, const Verdict& verdict) {
  const Spot* first = verdict.first();
  Object(out)
      .add(word::kResult, word_of(word::kGrades, first != nullptr ? first->grade : Grade::kNone))
      .add(word::kSentence, sentence(verdict))
      .add(word::kRiders, riders(verdict))
      .add(word::kFirst, first != nullptr ? std::optional(*first) : std::nullopt)
      .add(word::kParameters, verdict.parameters)
      .add(word::kParametersJudged, verdict.parameters_judged)
      .add(word::kParametersOff, verdict.parameters_off)
      .add(word::kParametersNotComparable, verdict.parameters_not_comparable)
      .add(word::kByStatistics, verdict.statistics)
      .add(word::kByElements, verdict.elements)
      .add(word::kTargetType, dtype_name(verdict.target_type))
      .add(word::kGoldenType, dtype_name(verdict.golden_type))
      .add(word::kUnit, verdict.unit)
      .add(word::kCalls, verdict.calls)
      .add(word::kJudged, verdict.judged)
      .add(word::kSkipped, verdict.skipped)
      .add(word::kUnmatched, verdict.unmatched)
      .add(word::kDiscrete, verdict.discrete)
      .add(word::kFirstDiscrete, known(verdict.first_discrete))
      .add(word::kOrdered, verdict.ordered)
      .add(word::kBackward, verdict.backward)
      .add(word::kCollectives, verdict.collectives)
      .add(word::kLastCollective, known(verdict.last_collective))
      .add(word::kThroughCollective, verdict.through_collective);
}

void append_json(std::string& out, const AcrossRanks& ranks) {
  std::vector<std::string> first;
  first.reserve(ranks.first.size());
  for (const std::size_t i : ranks.first) {
    first.push_back(ranks.ranks[i].name);
  }
  Object(out)
      .add(word::kFirstRanks, first)
      .add(word::kSharedCollective, known(ranks.shared_collective))
      .add(word::kText, report(ranks))
      .add(word::kRanks, ranks.ranks);
}

void append_json(std::string& out, const AcrossSteps& steps) {
  Object(out)
      .add(word::kFirstStep, steps.first ? std::optional(steps.steps[*steps.first].name) : std::nullopt)
      .add(word::kGrowth, steps.growth)
      .add(word::kText, report(steps))
      .add(word::kSteps, steps.steps);
}

}  // namespace msprobe::compare::divergence

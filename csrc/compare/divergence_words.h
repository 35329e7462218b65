// SPDX-License-Identifier: Apache-2.0
// Every word that the JSON of a verdict has, and the names that the sentences share with it, spelled once.
#pragma once

#include <array>
#include <string_view>

namespace msprobe::compare::divergence::word {

// By the enumerators of divergence.h, in their order.
inline constexpr std::array<std::string_view, 4> kGrades{"none", "hint", "first suspect", "first fault"};
inline constexpr std::array<std::string_view, 5> kWheres{"inside the call", "own code after the last child",
                                                         "own code before the call", "caller", "parameter"};
inline constexpr std::array<std::string_view, 3> kSections{"input", "output", "parameter"};
inline constexpr std::array<std::string_view, 6> kStatistics{"Max", "Min", "Mean", "Norm", "relative L2 error", ""};
inline constexpr std::array<std::string_view, 8> kFindings{"skipped",         "distance",          "same",
                                                           "integers differ", "shapes differ",     "missing on one side",
                                                           "not finite",      "golden is all zero"};

// Keys of a verdict.
inline constexpr std::string_view kResult = "result";         // a grade, or:
inline constexpr std::string_view kNotJudged = "not judged";  // checksums, or dumps that were not compared
inline constexpr std::string_view kSentence = "sentence";
inline constexpr std::string_view kRiders = "riders";
inline constexpr std::string_view kText = "text";
inline constexpr std::string_view kFirst = "first";
inline constexpr std::string_view kParameters = "parameters";
inline constexpr std::string_view kParametersJudged = "parameters_judged";
inline constexpr std::string_view kParametersOff = "parameters_off";
inline constexpr std::string_view kParametersNotComparable = "parameters_not_comparable";
inline constexpr std::string_view kByStatistics = "by_statistics";
inline constexpr std::string_view kByElements = "by_elements";
inline constexpr std::string_view kTargetType = "target_type";
inline constexpr std::string_view kGoldenType = "golden_type";
inline constexpr std::string_view kUnit = "unit";
inline constexpr std::string_view kCalls = "calls";
inline constexpr std::string_view kJudged = "tensors_judged";
inline constexpr std::string_view kSkipped = "tensors_skipped";
inline constexpr std::string_view kUnmatched = "calls_unmatched";
inline constexpr std::string_view kDiscrete = "discrete_choices";
inline constexpr std::string_view kFirstDiscrete = "first_discrete_choice";
inline constexpr std::string_view kOrdered = "ordered";
inline constexpr std::string_view kBackward = "backward";
inline constexpr std::string_view kCollectives = "collectives_before";
inline constexpr std::string_view kLastCollective = "last_collective";
inline constexpr std::string_view kThroughCollective = "through_collective";

// Keys of a walk.
inline constexpr std::string_view kSuspect = "first_suspect";
inline constexpr std::string_view kFault = "first_fault";
inline constexpr std::string_view kHints = "hints";
inline constexpr std::string_view kNoiseEnd = "noise_end";
inline constexpr std::string_view kSaturatedAt = "saturated_at";
inline constexpr std::string_view kLargest = "largest";
inline constexpr std::string_view kLargestAt = "largest_at";

// Keys of a spot.
inline constexpr std::string_view kGrade = "grade";
inline constexpr std::string_view kWhere = "where";
inline constexpr std::string_view kCall = "call";
inline constexpr std::string_view kGoldenCall = "golden_call";
inline constexpr std::string_view kCode = "code";
inline constexpr std::string_view kSection = "section";
inline constexpr std::string_view kPath = "path";
inline constexpr std::string_view kTargetDtype = "target_dtype";
inline constexpr std::string_view kGoldenDtype = "golden_dtype";
inline constexpr std::string_view kTargetShape = "target_shape";
inline constexpr std::string_view kGoldenShape = "golden_shape";
inline constexpr std::string_view kFinding = "finding";
inline constexpr std::string_view kStatistic = "statistic";
inline constexpr std::string_view kTarget = "target";
inline constexpr std::string_view kGolden = "golden";
inline constexpr std::string_view kDistance = "distance";
inline constexpr std::string_view kNoise = "noise";
inline constexpr std::string_view kRatio = "ratio";
inline constexpr std::string_view kLimit = "limit";
inline constexpr std::string_view kMayHaveStartedEarlier = "may_have_started_earlier";
inline constexpr std::string_view kInputsByStatistics = "inputs_fine_by_statistics_alone";
inline constexpr std::string_view kUnmatchedBefore = "calls_unmatched_before";
inline constexpr std::string_view kBefore = "before";
inline constexpr std::string_view kAfter = "after";
inline constexpr std::string_view kAround = "around";
inline constexpr std::string_view kOperator = "operator";
inline constexpr std::string_view kClear = "clear";
inline constexpr std::string_view kByInput = "by_input";
inline constexpr std::string_view kOnlyTarget = "operators_only_in_target";
inline constexpr std::string_view kOnlyGolden = "operators_only_in_golden";

// Keys of what is told of several ranks or steps.
inline constexpr std::string_view kRanks = "ranks";
inline constexpr std::string_view kSteps = "steps";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kReceived = "received";
inline constexpr std::string_view kFirstRanks = "first_ranks";
inline constexpr std::string_view kFirstStep = "first_step";
inline constexpr std::string_view kSharedCollective = "last_shared_collective";
inline constexpr std::string_view kGrowth = "growth_per_step";

}  // namespace msprobe::compare::divergence::word

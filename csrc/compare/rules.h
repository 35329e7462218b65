// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a row: the rules by number, their weight, and their texts.
#pragma once

#include <cstdint>
#include <string_view>

#include "compare/table.h"

namespace msprobe::compare {

// In the order of Err_message. docs/compare.md has each with its condition.
enum class Rule : std::uint8_t {
  // The original tool's.
  kTargetNotFinite,
  kOutputNorm,
  kOutputThousandth,
  kRequiresGrad,
  kScalar,
  kDtype,
  kShape,
  kNormGrowth,
  kCosineDrop,
  kMd5,
  kMd5Missing,
  // Ours.
  kTargetBroken,
  kGoldenBroken,
  kMaxClass,  // four in the order of the statistics
  kMinClass,
  kMeanClass,
  kNormClass,
  kOutputMax,  // three in the order of the statistics
  kOutputMin,
  kOutputMean,
  kCountsPresence,
  kCountsDiffer,
  kTensorFailed,
  kTensorNotSaved,
  kMd5Nowhere,
  kUnmatched,
  kFuzzy,
  kNotes,
};

using RuleSet = std::uint32_t;
constexpr RuleSet bit(Rule rule) { return RuleSet{1} << static_cast<unsigned>(rule); }

Result result_of(RuleSet rules) noexcept;  // of a matched row: the worst

// The whole text of a rule that needs no numbers; empty for the others.
std::string_view fixed_text(Rule rule) noexcept;

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// Weights and texts of the rules.
#include "compare/rules.h"

namespace msprobe::compare {
namespace {

constexpr RuleSet kWarnings = bit(Rule::kNormGrowth) | bit(Rule::kCosineDrop) | bit(Rule::kMd5Missing) |
                              bit(Rule::kMd5Nowhere) | bit(Rule::kCountsDiffer) | bit(Rule::kTensorNotSaved);
constexpr RuleSet kOnlyTold = bit(Rule::kUnmatched) | bit(Rule::kFuzzy) | bit(Rule::kNotes);

}  // namespace

Result result_of(RuleSet rules) noexcept {
  if ((rules & ~(kWarnings | kOnlyTold)) != 0) {
    return Result::kError;
  }
  return (rules & kWarnings) != 0 ? Result::kWarning : Result::kPass;
}

std::string_view fixed_text(Rule rule) noexcept {
  switch (rule) {
    case Rule::kTargetNotFinite:
      return "error: There is nan/inf/-inf in the maximum or minimum value of NPU.";
    case Rule::kOutputNorm:
      return "error: The NormRelativeErr of output is greater than 0.5.";
    case Rule::kOutputThousandth:
      return "error: The input/parameters of One Thousandth Err Ratio > 0.9 while the output < 0.6.";
    case Rule::kRequiresGrad:
      return "error: The Required_Grad of NPU and Bench are inconsistent";
    case Rule::kScalar:
      return "error: The scalar parameters of NPU and Bench are inconsistent.";
    case Rule::kDtype:
      return "error: The dtype of NPU and Bench are inconsistent.";
    case Rule::kShape:
      return "error: The shape of NPU and Bench are inconsistent.";
    case Rule::kNormGrowth:
      return "warning: The norm relative error of output is 10 times that of input.";
    case Rule::kCosineDrop:
      return "warning: The input/parameters of Cosine > 0.9, and input/parameters - output > 0.1";
    case Rule::kMd5:
      return "error: The CRC-32 value of NPU differs from that of the bench.";
    case Rule::kMd5Missing:
      return "warning: The parameter of NPU does not match the bench.";
    case Rule::kMd5Nowhere:
      return "warning: Neither NPU nor Bench has an md5 here; nothing was compared.";
    case Rule::kTensorNotSaved:
      return "warning: Neither NPU nor Bench has a saved tensor here; only the statistics were compared.";
    default:
      return {};
  }
}

}  // namespace msprobe::compare

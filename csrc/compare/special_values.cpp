// SPDX-License-Identifier: Apache-2.0
// Words for differences in NaN and infinities.
#include "compare/special_values.h"

#include <string_view>
#include <utility>

namespace msprobe::compare {

std::string special_text(const SpecialDifferences& differences) {
  const std::pair<std::int64_t, std::string_view> kinds[] = {
      {differences.nan_in_target, "NaN only in the target: "}, {differences.nan_in_golden, "NaN only in the golden: "},
      {differences.inf_in_target, "Inf only in the target: "}, {differences.inf_in_golden, "Inf only in the golden: "},
      {differences.inf_of_other_kind, "+Inf against -Inf: "},
  };
  std::string text;
  for (const auto& [count, words] : kinds) {
    if (count > 0) {
      text += text.empty() ? "" : "; ";
      text += words;
      text += std::to_string(count) + (count == 1 ? " element" : " elements");
    }
  }
  return text;
}

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// NaN and infinities in two runs of numbers: where they agree they are taken out of the sums, where they differ they are counted.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace msprobe::compare {

struct SpecialDifferences {
  std::int64_t elements = 0;       // in which any of these differs
  std::int64_t nan_in_target = 0;  // only there; so are the next three
  std::int64_t nan_in_golden = 0;
  std::int64_t inf_in_target = 0;
  std::int64_t inf_in_golden = 0;
  std::int64_t inf_of_other_kind = 0;  // of the other sign, or in the other part of a complex number
  std::int64_t first = -1;             // number of the first such element

  void add(const SpecialDifferences& next) noexcept {
    elements += next.elements;
    nan_in_target += next.nan_in_target;
    nan_in_golden += next.nan_in_golden;
    inf_in_target += next.inf_in_target;
    inf_in_golden += next.inf_in_golden;
    inf_of_other_kind += next.inf_of_other_kind;
    first = first < 0 ? next.first : first;
  }
};

// "NaN only in the target: 3 elements; ..."; empty if nothing differs.
std::string special_text(const SpecialDifferences& differences);

// Elements of kParts numbers (2: complex). Sets elements that are not finite on a side to 0 on both, and counts those that differ.
// `first` is the number of the run's first element.
template <int kParts, class Number>
void clean_specials(Number* x, Number* y, std::int64_t count, std::int64_t first, SpecialDifferences& differences) noexcept {
  for (std::int64_t element = 0; element < count; ++element) {
    Number* const target = x + element * kParts;
    Number* const golden = y + element * kParts;
    bool special = false;
    bool same = true;
    bool nan[2] = {};
    bool inf[2] = {};
    for (int part = 0; part < kParts; ++part) {
      special = special || !std::isfinite(target[part]) || !std::isfinite(golden[part]);
      nan[0] = nan[0] || std::isnan(target[part]);
      nan[1] = nan[1] || std::isnan(golden[part]);
      inf[0] = inf[0] || std::isinf(target[part]);
      inf[1] = inf[1] || std::isinf(golden[part]);
      const bool finite = std::isfinite(target[part]) && std::isfinite(golden[part]);
      same = same && (finite || target[part] == golden[part] || (std::isnan(target[part]) && std::isnan(golden[part])));
    }
    if (!special) {
      continue;
    }
    for (int part = 0; part < kParts; ++part) {
      target[part] = 0;
      golden[part] = 0;
    }
    if (!same) {
      ++differences.elements;
      differences.nan_in_target += nan[0] && !nan[1] ? 1 : 0;
      differences.nan_in_golden += nan[1] && !nan[0] ? 1 : 0;
      differences.inf_in_target += inf[0] && !inf[1] ? 1 : 0;
      differences.inf_in_golden += inf[1] && !inf[0] ? 1 : 0;
      differences.inf_of_other_kind += nan[0] == nan[1] && inf[0] == inf[1] ? 1 : 0;
      differences.first = differences.first < 0 ? first + element : differences.first;
    }
  }
}

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// What the rules need of one matched row: differences, and how large they are against a scale.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "compare/values.h"
#include "read/dump_model.h"

namespace msprobe::compare {

struct Measures {
  std::array<Difference, read::kStatistics> differences;
  // The size of each difference: of Max and Min to golden's largest magnitude, of Mean to its root mean square, of Norm to itself.
  // Infinite where one side is not finite or no number; < 0 where there is no scale.
  std::array<double, read::kStatistics> scaled{};
  double percent_norm = -1;  // the norm's relative error as a fraction, where its column shows a percentage; else < 0
};

Measures measure(const read::DumpModel& target, const read::Leaf& left, const read::DumpModel& golden, const read::Leaf& right);

double element_count(const read::DumpModel& model, const read::Leaf& leaf);  // of its shape

// The checksum column: md5, or what stands in for it. Empty: nothing does. Valid as long as `memory` and the model.
std::string_view checksum_text(const read::DumpModel& model, const read::Leaf& leaf, std::string& memory);

}  // namespace msprobe::compare

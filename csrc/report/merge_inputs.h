// SPDX-License-Identifier: Apache-2.0
// Which comparisons lie in a folder, by step and rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace msprobe::report {

using RankFiles = std::map<std::int64_t, std::string>;                 // paths by rank
using MergeInputs = std::map<std::optional<std::int64_t>, RankFiles>;  // by step; none: names without a step

// The newest file of each rank; of one run's CSV and workbook the CSV, which reads faster. Others are named in `notes`.
MergeInputs find_merge_inputs(const std::string& folder, std::vector<std::string>& notes);

}  // namespace msprobe::report

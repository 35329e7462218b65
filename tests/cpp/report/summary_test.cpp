// SPDX-License-Identifier: Apache-2.0
// The summary on the terminal, as a whole and in its limits.
#include "report/summary.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>

#include "report/unicode.h"

namespace msprobe::report {
namespace {

using compare::PairSummary;
using compare::Result;
using compare::Summary;

PairSummary pair_of(std::int64_t rank, compare::ResultCounts counts) {
  PairSummary pair;
  pair.rank = rank;
  pair.label = "rank" + std::to_string(rank);
  pair.mode = compare::Mode::kMd5;
  pair.counts = counts;
  return pair;
}

Summary two_ranks() {
  Summary summary;
  summary.pairs = {pair_of(0, {1234, 1, 0, 0}), pair_of(1, {10, 0, 2, 3})};
  summary.counts = {1244, 1, 2, 3};
  summary.worst = {
      {std::nullopt,
       "rank1",
       7,
       "Module.layers.0.mlp.MLP.forward.0.output.0",
       "N/A",
       Result::kError,
       std::numeric_limits<double>::infinity(),
       {"error: The shape of NPU and Bench are inconsistent."}},
      {std::nullopt, "rank0", 8, "N/A", "Module.only.golden", Result::kUnmatched, 0, {}},
  };
  summary.unpaired = {{false, "g/rank2/dump.json", "target has no rank 2"}};
  summary.files = {"out/compare_result_rank0_20260101000000.csv", "out/compare_result_rank1_20260101000000.csv"};
  summary.seconds = 0.1234;
  return summary;
}

TEST(Summary, IsThisText) {
  EXPECT_EQ(summary_text(two_ranks(), {}),
            "1,250 rows of 2 pairs of dumps compared in 0.123 s\n"
            "\n"
            "        pass  warning  error  unmatched\n"
            "rank0  1,234        1      0          0\n"
            "rank1     10        0      2          3\n"
            "total  1,244        1      2          3\n"
            "\n"
            "Worst rows\n"
            "result     rel. error  where  row                                         why\n"
            "error             inf  rank1  Module.layers.0.mlp.MLP.forward.0.output.0  The shape of NPU and Benc…\n"
            "unmatched           0  rank0  Module.only.golden\n"
            "\n"
            "Without a partner\n"
            "golden  g/rank2/dump.json: target has no rank 2\n"
            "\n"
            "Files\n"
            "out/compare_result_rank0_20260101000000.csv\n"
            "out/compare_result_rank1_20260101000000.csv\n");
}

TEST(Summary, TablesFitTheWidth) {
  Summary summary = two_ranks();
  summary.worst[0].target_name = "Module." + std::string(300, 'x') + "模块模块.output.0";
  summary.worst[0].messages = {"error: " + std::string(200, 'y') + "模"};
  for (const std::size_t width : {60U, 80U, 100U, 200U}) {
    std::istringstream lines(summary_text(summary, {width, false}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(Summary, NothingOfANameReachesTheTerminalAsACommand) {
  Summary summary = two_ranks();
  summary.worst[0].target_name = "Module.\x1b]0;title\x07.output.0";
  EXPECT_EQ(summary_text(summary, {}).find('\x1b'), std::string::npos);
}

TEST(Summary, ManyRanksAreCounted) {
  Summary summary;
  for (int rank = 0; rank < 1000; ++rank) {
    summary.pairs.push_back(pair_of(rank, {1, 0, 0, 0}));
    summary.files.push_back("out/" + std::to_string(rank) + ".csv");
  }
  const std::string text = summary_text(summary, {});
  EXPECT_NE(text.find("... 984 more"), std::string::npos);
  EXPECT_NE(text.find("... and 984 more beside them"), std::string::npos);
  EXPECT_LT(text.size(), 3000U);
}

TEST(Summary, TitlesNameWhatTellsPairsApart) {
  Summary summary = two_ranks();
  EXPECT_EQ(pair_title(summary.pairs[1], summary), "rank1: ");
  summary.pairs[0].step = 3;
  summary.pairs[1].step = 4;
  EXPECT_EQ(pair_title(summary.pairs[1], summary), "step 4 rank1: ");
  summary.pairs = {PairSummary()};
  EXPECT_EQ(pair_title(summary.pairs[0], summary), "");
}

}  // namespace
}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// Which rank parted first, and how steps grow apart.
#include "compare/divergence_across.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/divergence_text.h"
#include "divergence_case.h"

namespace msprobe::compare::divergence {
namespace {

// A rank at level mix: three modules, each followed by a collective. `bad` is the module whose output differs, -1 for none;
// from there on everything does, what the collectives bring included.
Verdict rank(int bad, bool collectives = true, int received = -1) {
  Case made;
  made.begin("Module.__root__.M.forward.0").in(bad == -2 ? 0.5 : 0);
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    const double distance = bad >= 0 && i >= bad ? 0.5 : 0;
    made.begin("Module.m" + number + ".Block.forward.0").in(i > bad && bad >= 0 ? 0.5 : 0);
    made.op("Aten.mm." + number + ".forward", "Aten.mm." + number + ".forward", 0, received >= 0 ? 0 : distance);
    if (collectives) {
      made.op("Distributed.all_reduce." + number + ".forward", "Distributed.all_reduce." + number + ".forward",
              received >= 0 ? 0 : distance, distance);
    }
    made.out(distance).end();
  }
  return made.out(0).end().verdict();
}

TEST(Ranks, FewerCollectivesBeforeMeansEarlier) {
  const Verdict late = rank(2);
  const Verdict early = rank(1);
  const Verdict fine = rank(-1);
  EXPECT_EQ(late.collectives, 2);
  EXPECT_EQ(early.last_collective, "Distributed.all_reduce.0.forward");
  const std::vector<Named> ranks{{"rank 0", &late}, {"rank 1", &early}, {"rank 2", &fine}};
  const AcrossRanks found = across_ranks(ranks);
  EXPECT_EQ(found.first, std::vector<std::size_t>{1});
  EXPECT_EQ(found.shared_collective, "Distributed.all_reduce.0.forward");
  const std::vector<std::string> lines = report(found);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0],
            "rank 1 (Module.m1.Block.forward.0) parted first, after the last collective that all share, "
            "Distributed.all_reduce.0.forward.");
  EXPECT_EQ(lines[1], "rank 0 (Module.m2.Block.forward.0) parted after 2 collectives.");
}

TEST(Ranks, WhatCameThroughACollectiveCameFromAnotherRank) {
  const Verdict sender = rank(1);
  const Verdict receiver = rank(1, true, 1);
  EXPECT_FALSE(sender.through_collective);
  EXPECT_TRUE(receiver.through_collective);
  const std::vector<Named> ranks{{"rank 0", &receiver}, {"rank 1", &sender}};
  const AcrossRanks found = across_ranks(ranks);
  EXPECT_EQ(found.first, std::vector<std::size_t>{1});
  EXPECT_TRUE(found.ranks[0].received);
}

TEST(Ranks, BetweenTheSameCollectivesThereIsNoOrder) {
  const Verdict one = rank(1);
  const Verdict other = rank(1);
  const std::vector<Named> ranks{{"rank 0", &one}, {"rank 1", &other}};
  EXPECT_EQ(across_ranks(ranks).first.size(), 2U);
  EXPECT_NE(report(across_ranks(ranks))[0].find("nothing tells which of them"), std::string::npos);
}

TEST(Ranks, WithoutCollectivesThePlaceInTheWalkCounts) {
  const Verdict late = rank(2, false);
  const Verdict early = rank(0, false);
  const Verdict outside = rank(-2, false);
  const std::vector<Named> ranks{{"rank 0", &late}, {"rank 1", &early}, {"rank 2", &outside}};
  const AcrossRanks found = across_ranks(ranks);
  EXPECT_EQ(found.first, std::vector<std::size_t>{1}) << "what comes from outside was made by another rank";
  EXPECT_NE(report(found)[0].find("no collective was recorded"), std::string::npos);
}

TEST(Ranks, NoneParts) {
  const Verdict fine = rank(-1);
  const std::vector<Named> ranks{{"rank 0", &fine}};
  EXPECT_TRUE(across_ranks(ranks).first.empty());
  EXPECT_EQ(report(across_ranks(ranks)), std::vector<std::string>{"No rank parts from golden above noise."});
}

TEST(Steps, TheFirstThatPartsAndTheGrowth) {
  const auto step = [](double out, double bad) {
    Case made;
    made.leaf("Module.a.A.forward.0", 0, out).leaf("Module.b.B.forward.0", 0, bad);
    return made.verdict();
  };
  const Verdict first = step(1e-7, 2e-7);
  const Verdict second = step(1e-7, 4e-7);
  const Verdict third = step(1e-7, 0.5);
  const std::vector<Named> steps{{"step 0", &first}, {"step 1", &second}, {"step 2", &third}};
  const AcrossSteps found = across_steps(steps);
  EXPECT_EQ(found.first, 2U);
  EXPECT_NEAR(found.growth.value_or(0), std::sqrt(0.5 / 2e-7), 1);
  EXPECT_NEAR(found.steps[1].largest, 4e-7, 1e-8);
  EXPECT_EQ(found.steps[1].largest_at, "Module.b.B.forward.0");
  EXPECT_EQ(report(found)[0], "The first step that parts is step 2, at Module.b.B.forward.0.");
  const std::vector<Named> healthy{{"step 0", &first}, {"step 1", &second}};
  EXPECT_EQ(report(across_steps(healthy))[0], "No step parts from golden above noise.");
}

TEST(Json, OfRanksAndSteps) {
  const Verdict late = rank(2);
  const std::vector<Named> named{{"rank 0", &late}};
  std::string text;
  append_json(text, across_ranks(named));
  auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["first_ranks"][0], "rank 0");
  EXPECT_EQ(json["ranks"][0]["collectives_before"], 2);
  text.clear();
  append_json(text, across_steps(named));
  json = nlohmann::json::parse(text);
  EXPECT_EQ(json["first_step"], "rank 0");
  EXPECT_EQ(json["growth_per_step"], nullptr);
}

}  // namespace
}  // namespace msprobe::compare::divergence

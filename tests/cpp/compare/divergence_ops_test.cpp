// SPDX-License-Identifier: Apache-2.0
// Operators: aligned by their order, the one at fault inside a module, and dumps that have nothing else.
#include <gtest/gtest.h>

#include <random>

#include "compare/divergence_align.h"
#include "divergence_case.h"

namespace msprobe::compare::divergence {
namespace {

using Names = std::vector<std::string_view>;

std::size_t longest(const Names& a, const Names& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

TEST(Align, FindsALongestCommonSubsequence) {
  std::mt19937 random(5);
  constexpr std::array<std::string_view, 4> kWords{"a", "b", "c", "d"};
  for (int run = 0; run < 2000; ++run) {
    Names a(random() % 12);
    Names b(random() % 12);
    for (Names* names : {&a, &b}) {
      std::ranges::generate(*names, [&] { return kWords[random() % 4]; });
    }
    const Alignment found = align(a, b);
    EXPECT_EQ(found.pairs.size(), longest(a, b));
    EXPECT_EQ(found.only_target.size(), a.size() - found.pairs.size());
    EXPECT_EQ(found.only_golden.size(), b.size() - found.pairs.size());
    for (std::size_t i = 0; i < found.pairs.size(); ++i) {
      EXPECT_EQ(a[found.pairs[i].first], b[found.pairs[i].second]);
      if (i > 0) {
        EXPECT_LT(found.pairs[i - 1].first, found.pairs[i].first);
        EXPECT_LT(found.pairs[i - 1].second, found.pairs[i].second);
      }
    }
  }
}

TEST(Align, ListsWithLittleInCommonArePairedByNumber) {
  Names a(3000, "a");
  Names b(3000, "b");
  a.insert(a.begin(), "x");
  b.push_back("x");
  const Alignment found = align(a, b);
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0], (std::pair<std::uint32_t, std::uint32_t>{0, 3000}));
}

TEST(Operator, InsideALeafModule) {
  Case made;
  made.begin("Module.__root__.M.forward.0").in(0).begin("Module.a.A.forward.0").in(1e-7);
  made.op("Aten.mul.0.forward", "Aten.mul.0.forward", 1e-7, 1e-7).op("Aten.view.0.forward", "Aten.view.0.forward", 0, 0.5);
  made.op("Aten.mm.0.forward", "Aten.mm.0.forward", 1e-7, 0.5).op("Aten.add.0.forward", "Aten.add.0.forward", 0.5, 0.5);
  made.out(0.5).end().out(0.5).end();
  const Verdict verdict = made.verdict();
  ASSERT_TRUE(verdict.statistics.fault && verdict.statistics.fault->op);
  const OperatorSpot& op = *verdict.statistics.fault->op;
  EXPECT_EQ(op.call, "Aten.mm.0.forward");
  EXPECT_TRUE(op.clear);
  EXPECT_FALSE(op.by_input);
  EXPECT_EQ(verdict.calls, 1) << "operators are not walked beside modules";
}

TEST(Operator, WithABadInputThatNothingRecordedMade) {
  Case made;
  made.begin("Module.a.A.forward.0").in(1e-7).op("Aten.mm.0.forward", "Aten.mm.0.forward", 0.5, 0.5).out(0.5).end();
  const Verdict verdict = made.verdict();
  EXPECT_TRUE(verdict.statistics.fault->op->by_input);
}

TEST(Operator, WithTheLargestStepIfNoneStandsOut) {
  Case made;
  made.begin("Module.__root__.M.forward.0").in(0).begin("Module.a.A.forward.0").in(0.02);
  made.op("Aten.mul.0.forward", "Aten.mul.0.forward", 0.02, 0.03).op("Aten.mm.0.forward", "Aten.mm.0.forward", 0.03, 0.1);
  made.out(0.1).end().end();
  const Spot spot = made.verdict().statistics.fault.value_or(Spot{});
  EXPECT_EQ(spot.where, Where::kBefore) << "the input of a was off, and the code of the model before it has no operators";
  EXPECT_FALSE(spot.op.has_value());
}

// One operator more on the target's side: all later numbers of that name are shifted.
TEST(Operator, PartnersAreFoundByTheirOrderNotByTheirNumbers) {
  Case made;
  made.begin("Module.__root__.M.forward.0").in(0).begin("Module.a.A.forward.0").in(0);
  made.op("Aten.mm.0.forward", "", 0, 0);
  made.end().leaf("Module.x.X.forward.0", 0, 0);
  made.begin("Module.b.B.forward.0").in(0);
  made.op("Aten.mm.1.forward", "Aten.mm.0.forward", 0, 0).op("Aten.add.0.forward", "Aten.add.0.forward", 0, 0.5);
  made.op("Aten.mm.2.forward", "Aten.mm.1.forward", 0.5, 0.5).op("", "Aten.relu.0.forward", 0, 0);
  made.out(0.5).end().out(0.5).end();
  const Spot spot = made.verdict().statistics.fault.value_or(Spot{});
  ASSERT_TRUE(spot.op.has_value());
  EXPECT_EQ(spot.code, "b");
  EXPECT_EQ(spot.op->call, "Aten.add.0.forward");
  EXPECT_TRUE(spot.only_target.empty());
  EXPECT_EQ(spot.only_golden, std::vector<std::string>{"Aten.relu.0.forward"});
}

TEST(Operator, OfTheParentsCodeBeforeAModule) {
  for (const Case::Order order : {Case::Order::kStamps, Case::Order::kStarts, Case::Order::kEnds}) {
    Case made;
    made.begin("Module.__root__.M.forward.0").in(0).begin("Module.l.L.forward.0").in(0);
    made.leaf("Module.l.a.A.forward.0", 0, 0).op("Aten.add.0.forward", "Aten.add.0.forward", 0, 0.5);
    made.leaf("Module.l.b.B.forward.0", 0.5, 0.5).op("Aten.mul.0.forward", "Aten.mul.0.forward", 0, 0.7);
    made.out(0.7).end().leaf("Module.head.H.forward.0", 0.7, 0.7).out(0.7).end();
    const Spot spot = made.verdict(order).statistics.fault.value_or(Spot{});
    EXPECT_EQ(spot.call, "Module.l.b.B.forward.0");
    ASSERT_TRUE(spot.op.has_value());
    EXPECT_EQ(spot.op->call, "Aten.add.0.forward");
  }
}

// An NPU records the products that a CPU takes apart, and its casts have a name of their own.
TEST(Operator, OfTheOtherDevicesNameIsNotToldAsMissing) {
  Case made;
  made.begin("Module.l.L.forward.0").in(0);
  made.op("NPU._npu_dtype_cast.0.forward", "", 0, 0);
  made.op("Aten.matmul.0.forward", "Aten.mm.0.forward", 0, 0).op("Aten.amax.0.forward", "", 0, 0);
  made.op("Aten.matmul.1.forward", "Aten.bmm.0.forward", 0, 0.5);
  made.leaf("Module.l.b.B.forward.0", 0.5, 0.5).out(0.5).end();
  const Spot spot = made.verdict().statistics.fault.value_or(Spot{});
  EXPECT_EQ(spot.call, "Module.l.b.B.forward.0");
  EXPECT_EQ(spot.only_target, std::vector<std::string>{"Aten.amax.0.forward"});
  EXPECT_TRUE(spot.only_golden.empty());
}

// What one device records otherwise is no difference of the code: it is so in places that were fine too. `before` and `elsewhere` are
// operators of a module before the code at fault; the code at fault has repeat and amax on one side alone.
Case with_other_names(bool of_target, bool before, bool elsewhere) {
  Case made;
  const auto one_sided = [&](const std::string& name, bool side) { made.op(side ? name : "", side ? "" : name, 0, 0); };
  made.begin("Module.l.L.forward.0").in(0).begin("Module.l.a.A.forward.0").in(0);
  made.op("Aten.mul.0.forward", "Aten.mul.0.forward", 0, 0);
  if (before) {
    one_sided("Aten.repeat.0.forward", of_target);
  }
  if (elsewhere) {
    one_sided("Aten.repeat.2.forward", !of_target);
  }
  made.out(0).end();
  one_sided("Aten.repeat.1.forward", of_target);
  one_sided("Aten.amax.0.forward", of_target);
  made.op("Aten.add.0.forward", "Aten.add.0.forward", 0, 0.5).leaf("Module.l.b.B.forward.0", 0.5, 0.5).out(0.5).end();
  return made;
}

TEST(Operator, ThatADeviceRecordsOtherwiseEverywhereIsNotToldAsMissing) {
  using Told = std::vector<std::string>;
  const Told amax{"Aten.amax.0.forward"};
  const Told both{"Aten.repeat.1.forward", "Aten.amax.0.forward"};
  for (const bool of_target : {false, true}) {
    const auto told = [&](bool before, bool elsewhere) {
      const Spot spot = with_other_names(of_target, before, elsewhere).verdict().statistics.fault.value_or(Spot{});
      EXPECT_EQ(spot.call, "Module.l.b.B.forward.0");
      EXPECT_TRUE((of_target ? spot.only_golden : spot.only_target).empty());
      return of_target ? spot.only_target : spot.only_golden;
    };
    EXPECT_EQ(told(true, false), amax);
    EXPECT_EQ(told(false, false), both) << "nothing shows that it is harmless";
    EXPECT_EQ(told(true, true), both) << "the other side records it too";
  }
}

TEST(Operators, AloneAreWalkedWithoutThoseThatOnlyMove) {
  Case made;
  made.op("Aten.mm.0.forward", "Aten.mm.0.forward", 0, 1e-7).op("Aten.view.0.forward", "Aten.view.0.forward", 0, 0.5);
  made.op("Aten.add.0.forward", "Aten.add.0.forward", 0, 0.5);
  const Verdict verdict = made.verdict();
  EXPECT_EQ(verdict.statistics.fault->call, "Aten.add.0.forward");
  EXPECT_EQ(verdict.statistics.fault->where, Where::kCall);
  EXPECT_EQ(verdict.calls, 2);
}

TEST(Operators, AloneArePairedByTheirOrder) {
  Case made;
  made.op("Aten.mm.0.forward", "", 0, 0);  // the target's only; by number all later mm would be paired wrongly
  const Tensor other{.shape = "[2, 2]"};
  made.op("Aten.exp.0.forward", "Aten.exp.0.forward", 0, 0);
  made.begin("Aten.mm.1.forward", "Aten.mm.0.forward").in(0).out(0).end();
  made.begin("Aten.relu.0.forward").in(0).out(0).end();
  made.begin("Aten.mm.2.forward", "Aten.mm.1.forward").tensor(Section::kOutput, other, other).end();
  made.op("Aten.add.0.forward", "Aten.add.0.forward", 0, 0.5);
  const Verdict verdict = made.verdict();
  EXPECT_EQ(verdict.statistics.fault.value_or(Spot{}).call, "Aten.add.0.forward") << "not the shape of mm.1";
}

// One side splits a sum in two: which mm belongs to which is not sure, and the sum is another one.
TEST(Operators, BesideOthersWithoutPartnersAreNotJudged) {
  const Tensor half{.shape = "[64, 32]"};
  Case made;
  made.op("Aten.exp.0.forward", "Aten.exp.0.forward", 0, 0).op("Aten.relu.0.forward", "Aten.relu.0.forward", 0, 0);
  for (const int i : {0, 2}) {
    const std::string first = "Aten.mm." + std::to_string(i) + ".forward";
    made.begin(first, "").tensor(Section::kInput, half, {}).out(0.5).end();
    made.begin("Aten.mm." + std::to_string(i + 1) + ".forward", "Aten.mm." + std::to_string(i / 2) + ".forward");
    made.tensor(Section::kInput, half, {}).out(0.5).end();
    made.op("Aten.add." + std::to_string(i) + ".forward", "", 0, 0);
  }
  made.op("Aten.mul.0.forward", "Aten.mul.0.forward", 0, 0).op("Aten.exp.1.forward", "Aten.exp.1.forward", 0, 0);
  const Verdict verdict = made.verdict();
  EXPECT_EQ(verdict.first(), nullptr);
  EXPECT_EQ(verdict.unmatched, 8);
  made.op("Aten.mul.1.forward", "Aten.mul.1.forward", 0, 0.5);
  EXPECT_EQ(made.verdict().statistics.fault.value_or(Spot{}).call, "Aten.mul.1.forward");
}

TEST(Operators, OfOtherShapesAreFaultsWhereThePartnersAreSure) {
  Case made;
  made.op("Aten.relu.0.forward", "Aten.relu.0.forward", 0, 0);
  made.begin("Aten.mm.0.forward").tensor(Section::kInput, {.shape = "[64, 32]"}, {}).out(0).end();
  EXPECT_EQ(made.verdict().statistics.fault.value_or(Spot{}).finding, Finding::kShape);
}

}  // namespace
}  // namespace msprobe::compare::divergence

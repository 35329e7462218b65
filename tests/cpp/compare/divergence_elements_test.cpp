// SPDX-License-Identifier: Apache-2.0
// Parameters, and the walk by the relative L2 error of tensor mode.
#include <gtest/gtest.h>

#include <cmath>

#include "compare/divergence_rule.h"
#include "divergence_case.h"

namespace msprobe::compare::divergence {
namespace {

constexpr double kUnit = 0x1p-24;

Case linear(const Tensor& weight, double out) {
  Case made;
  made.leaf("Module.a.Linear.forward.0", 0, 0);
  made.begin("Module.b.Linear.forward.0").in(0).parameter(weight, {}, "weight").out(out).end();
  return made;
}

TEST(Parameters, AboveFourUnitsAreSuspects) {
  const Verdict fine = linear(off_by(4 * kUnit), 0).verdict();
  EXPECT_EQ(fine.first(), nullptr);
  EXPECT_EQ(fine.parameters_judged, 1);
  const Verdict verdict = linear(off_by(4.5 * kUnit), 0).verdict();
  ASSERT_EQ(verdict.parameters.size(), 1U);
  const Spot& spot = verdict.parameters.front();
  EXPECT_EQ(spot.where, Where::kParameter);
  EXPECT_EQ(spot.grade, Grade::kSuspect);
  EXPECT_EQ(spot.code, "b");
  EXPECT_EQ(spot.path, "weight");
  EXPECT_NEAR(spot.ratio, 4.5, 0.01);
}

TEST(Parameters, ComeBeforeTheWalk) {
  Case made = linear(off_by(0.5), 0.5);
  Case early;
  early.leaf("Module.0.First.forward.0", 0, 0.5);
  const Verdict verdict = made.verdict();
  EXPECT_EQ(verdict.first(), &verdict.parameters.front());
  EXPECT_EQ(verdict.statistics.fault.value_or(Spot{}).code, "b") << "the walk is told of as well";
}

TEST(Parameters, AreJudgedOnceHoweverOftenTheirModuleIsCalled) {
  Case made;
  for (const char* call : {"0", "1"}) {
    made.begin(std::string("Module.b.Linear.forward.") + call).in(0).parameter(off_by(0.5), {}, "weight").out(0).end();
  }
  EXPECT_EQ(made.verdict().parameters_off, 1);
}

TEST(Parameters, OfOtherShapesOrNaturesAreNotComparable) {
  EXPECT_EQ(linear({.shape = "[64, 32]"}, 0).verdict().parameters_not_comparable, 1);
  const Verdict verdict = linear({.dtype = DType::kInt8}, 0).verdict();
  EXPECT_EQ(verdict.parameters_not_comparable, 1);
  EXPECT_EQ(verdict.first(), nullptr);
  Case fused;
  fused.begin("Module.b.Linear.forward.0").in(0).only_golden(Section::kParameter, {}, "bias").out(0).end();
  EXPECT_EQ(fused.verdict().parameters_not_comparable, 1);
  EXPECT_EQ(fused.verdict().first(), nullptr);
}

TEST(Parameters, ThatAreNotFiniteOrOtherIntegersAreFaults) {
  const double nan = std::nan("");
  EXPECT_EQ(linear({.numbers = {nan, nan, nan, nan}}, 0).verdict().parameters.at(0).grade, Grade::kFault);
  Case made;
  made.begin("Module.b.Table.forward.0").in(0).parameter(integers(4, 1), integers(3, 1), "index").out(0).end();
  EXPECT_EQ(made.verdict().parameters.at(0).finding, Finding::kDiffers);
}

// Four leaf calls; `errors` are the relative L2 errors of their outputs.
Case with_elements(std::array<double, 4> errors, std::array<double, 4> distances = {}) {
  Case made;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const std::string name = "Module.m" + std::to_string(i) + ".M.forward.0";
    made.leaf(name, 0, distances[i]).elements(name, errors[i]);
  }
  return made;
}

TEST(Elements, AreWalkedWithALimitOfFive) {
  const Verdict verdict = with_elements({1e-5, 4.9e-5, 5.5e-5, 2.9e-4}).verdict();
  EXPECT_EQ(verdict.statistics.first(), nullptr);
  ASSERT_TRUE(verdict.elements && verdict.elements->fault);
  EXPECT_EQ(verdict.elements->fault->code, "m0") << "1e-5 is above 10 x 2u";
  const Verdict suspect = with_elements({5e-7, 2.4e-6, 1.1e-5, 9e-5}).verdict();
  EXPECT_EQ(suspect.elements->suspect.value_or(Spot{}).code, "m3");
  EXPECT_EQ(suspect.elements->suspect.value_or(Spot{}).statistic, Statistic::kRelativeL2);
  EXPECT_EQ(with_elements({5e-7, 2.4e-6, 1.1e-5, 1.2e-3}).verdict().elements->fault->code, "m3");
  EXPECT_FALSE(with_elements({-1, -1, -1, -1}).verdict().elements.has_value()) << "no elements, no walk";
}

TEST(Elements, TheEarlierOfBothWalksIsToldFirst) {
  const Verdict by_elements = with_elements({5e-7, 0.3, 0.3, 0.3}, {0, 0, 0.3, 0}).verdict();
  EXPECT_EQ(by_elements.first()->code, "m1");
  EXPECT_EQ(by_elements.statistics.fault->code, "m2");
  const Verdict by_statistics = with_elements({5e-7, 5e-7, 5e-7, 0.3}, {0, 0, 0.3, 0}).verdict();
  EXPECT_EQ(by_statistics.first()->code, "m2");
  EXPECT_EQ(by_statistics.elements->fault->code, "m3");
  const Verdict together = with_elements({5e-7, 0.3, 0, 0}, {0, 0.4, 0, 0}).verdict();
  EXPECT_EQ(together.first()->statistic, Statistic::kMax) << "of the same place the statistics tell more";
}

TEST(Elements, ADiscreteChoiceRaisesTheLimitFortyfold) {
  const auto made = [](double error) {
    Case c;
    c.begin("Module.__root__.Model.forward.0").in(0).begin("Module.mlp.Mixture.forward.0").in(0);
    c.begin("Module.mlp.router.Router.forward.0").in(0).tensor(Section::kOutput, integers(3, 1), integers(3, 2)).end();
    c.leaf("Module.mlp.experts.Experts.forward.0", 0, 0).out(0).end().out(0).end();
    c.elements("Module.mlp.experts.Experts.forward.0", error);
    return c.verdict();
  };
  EXPECT_EQ(made(199 * 2 * kUnit).elements->first(), nullptr);
  EXPECT_EQ(made(201 * 2 * kUnit).elements->first()->limit, 200);
}

TEST(Elements, AParameterThatIsPermutedIsFoundByThem) {
  Case made = linear({}, 0);
  Input input = made.input();
  for (Place& place : input.places) {
    place.relative_l2 = place.section == Section::kParameter ? 1.4F : 0;
  }
  const Verdict verdict = find(input);
  ASSERT_EQ(verdict.parameters.size(), 1U);
  EXPECT_EQ(verdict.parameters[0].statistic, Statistic::kRelativeL2);
}

}  // namespace
}  // namespace msprobe::compare::divergence

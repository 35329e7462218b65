// SPDX-License-Identifier: Apache-2.0
// Integers: inputs that must be equal, choices that noise may turn, and what such a choice excuses.
#include <gtest/gtest.h>

#include "compare/divergence_rule.h"
#include "divergence_case.h"

namespace msprobe::compare::divergence {
namespace {

constexpr double kStart = 2 * 0x1p-24;
const Tensor kChosen = integers(3, 1.5);
const Tensor kOthers = integers(3, 1.625);

TEST(Integers, OfTheOutermostCallAreTheCallers) {
  Case made;
  made.begin("Module.__root__.Model.forward.0").tensor(Section::kInput, kOthers, kChosen);
  made.begin("Module.embed.Embedding.forward.0").tensor(Section::kInput, kOthers, kChosen).out(0.5).end().out(0.5).end();
  const Verdict verdict = made.verdict();
  ASSERT_TRUE(verdict.statistics.fault.has_value());
  EXPECT_EQ(verdict.statistics.fault->where, Where::kCaller);
  EXPECT_EQ(verdict.statistics.fault->finding, Finding::kDiffers);
  EXPECT_EQ(verdict.discrete, 0);
}

// Ids that the model itself made wrong, given to a module that takes nothing else, or under a name that says what they are.
TEST(Integers, ThatNoFloatsCanHaveMadeAreHard) {
  const auto spot = [](const std::string& module, const std::string& path, bool with_float) {
    Case made;
    made.begin("Module.__root__.Model.forward.0").in(0).leaf("Module.first.First.forward.0", 0, 0);
    made.begin(module);
    if (with_float) {
      made.in(0);
    }
    made.tensor(Section::kInput, kOthers, kChosen, path).out(0).end().out(0).end();
    const Verdict verdict = made.verdict();
    return verdict.statistics.fault ? verdict.statistics.fault->code : std::string();
  };
  EXPECT_EQ(spot("Module.tokens.Embedding.forward.0", "0", false), "__root__") << "by its class";
  EXPECT_EQ(spot("Module.embed_tokens.Lookup.forward.0", "0", false), "__root__") << "by its name";
  EXPECT_EQ(spot("Module.embed.count.Count.forward.0", "0", false), "") << "inside an embedding anything may be chosen";
  EXPECT_EQ(spot("Module.rotary.Rotary.forward.0", "1", true), "__root__");
  EXPECT_EQ(spot("Module.layer.Layer.forward.0", "position_ids", true), "__root__");
  EXPECT_EQ(spot("Module.layer.Layer.forward.0", "kwargs.attention_mask", true), "__root__");
  EXPECT_EQ(spot("Module.experts.Experts.forward.0", "1", true), "") << "the choice of a router";
}

TEST(Integers, BeforeAnyFloatsAreHard) {
  Case made;
  made.begin("Module.__root__.Model.forward.0").begin("Module.tokens.Lookup.forward.0");
  made.tensor(Section::kInput, kOthers, kChosen).out(0.5).end().out(0).end();
  EXPECT_EQ(made.verdict().statistics.fault.value_or(Spot{}).call, "Module.tokens.Lookup.forward.0");
}

// Integers whose numbers are equal may be others: an exchange does not show.
TEST(Integers, ThatComeOutAreNeverAFaultByThemselves) {
  Case made;
  made.leaf("Module.f.F.forward.0", 0, 0).begin("Module.a.Count.forward.0").tensor(Section::kInput, kChosen, kChosen);
  made.tensor(Section::kOutput, kOthers, kChosen).end();
  EXPECT_EQ(made.verdict().first(), nullptr);
  EXPECT_EQ(made.verdict().discrete, 1);
}

// A block with a router whose choice differs; `expert` is how far the experts are off, `block` the block, `next` the layer after it.
Case mixture(double expert, double block, double next, const Tensor& dtype = {}) {
  const auto at = [&](double distance) {
    Tensor tensor = off_by(distance);
    tensor.dtype = dtype.dtype;
    return tensor;
  };
  const auto float_out = [&](Case& made, double distance) { made.tensor(Section::kOutput, at(distance), at(0)); };
  Case made;
  made.begin("Module.__root__.Model.forward.0").in(0);
  made.begin("Module.mlp.Mixture.forward.0").in(0);
  made.begin("Module.mlp.router.Router.forward.0").in(0);
  float_out(made, 0);
  made.tensor(Section::kOutput, kOthers, kChosen).end();
  made.begin("Module.mlp.experts.Experts.forward.0").in(0).tensor(Section::kInput, kOthers, kChosen);
  float_out(made, expert);
  made.end();
  float_out(made, block);
  made.end();
  made.begin("Module.next.Linear.forward.0").in(0);
  float_out(made, next);
  made.end();
  float_out(made, 0);
  made.end();
  return made;
}

TEST(DiscreteChoice, IsNoFaultAndIsToldOfOnce) {
  const Verdict verdict = mixture(0, 0, 0).verdict();
  EXPECT_EQ(verdict.first(), nullptr);
  EXPECT_EQ(verdict.discrete, 1) << "the experts get the same integers";
  EXPECT_EQ(verdict.first_discrete, "Module.mlp.router.Router.forward.0");
}

TEST(DiscreteChoice, RaisesTheLimitToFourTimesInItsBlock) {
  EXPECT_EQ(mixture(31 * kStart, 31 * kStart, 0).verdict().first(), nullptr);
  const Verdict verdict = mixture(33 * kStart, 0, 0).verdict();
  ASSERT_TRUE(verdict.statistics.suspect.has_value());
  EXPECT_EQ(verdict.statistics.suspect->code, "mlp.experts");
  EXPECT_EQ(verdict.statistics.suspect->limit, 32);
  EXPECT_EQ(mixture(65 * kStart, 0, 0).verdict().statistics.fault.value_or(Spot{}).code, "mlp.experts");
  EXPECT_EQ(mixture(0, 65 * kStart, 0).verdict().statistics.fault.value_or(Spot{}).where, Where::kTail)
      << "the block's own output";
}

TEST(DiscreteChoice, FeedsOnlyWhatLeavesItsBlockToTheNoise) {
  EXPECT_EQ(mixture(31 * kStart, 0, 9 * kStart).verdict().statistics.suspect.value_or(Spot{}).code, "next");
  EXPECT_EQ(mixture(31 * kStart, 2 * kStart, 9 * kStart).verdict().first(), nullptr);
}

TEST(DiscreteChoice, InHalfTypesExcusesMore) {
  const Tensor half{.dtype = DType::kBFloat16};
  EXPECT_EQ(mixture(1.9, 0, 0, half).verdict().first(), nullptr);
  EXPECT_EQ(mixture(2.1, 0, 0, half).verdict().statistics.suspect.value_or(Spot{}).code, "mlp.experts");
  const double start = 2 * 0x1p-8;
  EXPECT_EQ(mixture(0, 0, 15 * start, half).verdict().first(), nullptr) << "behind the block a suspect is none";
  EXPECT_EQ(mixture(0, 0, 33 * start, half).verdict().statistics.fault.value_or(Spot{}).code, "next");
}

// A block whose own code calls top-k on what a gate gave, and whose output is off by `block`.
Case chosen_by_operator(double gate, double block, const Tensor& target = kOthers, const Tensor& golden = kChosen,
                        const std::string& golden_name = "Aten.topk.0.forward") {
  Case made;
  made.begin("Module.__root__.Model.forward.0").in(0).begin("Module.mlp.Mixture.forward.0").in(0);
  made.leaf("Module.mlp.gate.Linear.forward.0", 0, 0);
  made.begin("Aten.topk.0.forward", golden_name).in(gate).out(gate).tensor(Section::kOutput, target, golden).end();
  made.leaf("Module.mlp.up.Linear.forward.0", 0, 0).out(block).end();
  made.leaf("Module.next.Linear.forward.0", 0, 0).out(0).end();
  return made;
}

TEST(OperatorChoice, LowersAFaultToASuspectAndIsToldOf) {
  const Verdict verdict = chosen_by_operator(0, 0.2).verdict();
  ASSERT_TRUE(verdict.statistics.suspect.has_value());
  EXPECT_EQ(verdict.statistics.suspect->code, "mlp");
  EXPECT_FALSE(verdict.statistics.fault.has_value());
  EXPECT_EQ(verdict.discrete, 1);
  EXPECT_EQ(verdict.first_discrete, "Aten.topk.0.forward");
  EXPECT_TRUE(chosen_by_operator(0, 0.2, kChosen).verdict().statistics.fault.has_value()) << "the same choice";
}

TEST(OperatorChoice, ExcusesNothingWithABadInput) {
  EXPECT_EQ(chosen_by_operator(15 * kStart, 0.2).verdict().discrete, 1);
  const Verdict verdict = chosen_by_operator(17 * kStart, 0.2).verdict();
  EXPECT_TRUE(verdict.statistics.fault.has_value());
  EXPECT_EQ(verdict.discrete, 0);
}

TEST(OperatorChoice, DoesNotExplainWhatIsFarOff) {
  EXPECT_TRUE(chosen_by_operator(0, 3.9).verdict().statistics.suspect.has_value());
  EXPECT_TRUE(chosen_by_operator(0, 4.1).verdict().statistics.fault.has_value());
  Case made = chosen_by_operator(0, 0);
  made.begin("Module.mlp.Mixture.forward.1").in(0).out(0.2).end();
  EXPECT_TRUE(made.verdict().statistics.fault.has_value()) << "after the block that chose";
}

TEST(OperatorChoice, IsOfIndicesOnly) {
  const auto with = [](DType dtype) {
    return chosen_by_operator(0, 0.2, integers(3, 1.625, dtype), integers(3, 1.5, dtype)).verdict().discrete;
  };
  EXPECT_EQ(with(DType::kInt32), 1);
  EXPECT_EQ(with(DType::kInt8), 0) << "quantised values";
  EXPECT_EQ(with(DType::kBool), 0) << "a comparison";
}

TEST(OperatorChoice, IsPairedInItsModuleWhateverItsNumber) {
  EXPECT_EQ(chosen_by_operator(0, 0.2, kOthers, kChosen, "Aten.topk.3.forward").verdict().discrete, 1);
  EXPECT_EQ(chosen_by_operator(0, 0.2, kOthers, kChosen, "Aten.sort.0.forward").verdict().discrete, 0);
}

// A router without modules inside: its caller works on the choice. What the router gives is the same choice, told of once.
TEST(OperatorChoice, OfARouterReachesWhatEnclosesIt) {
  for (const bool gives_integers : {false, true}) {
    Case made;
    made.begin("Module.__root__.Model.forward.0").in(0).begin("Module.mlp.Mixture.forward.0").in(0);
    made.begin("Module.mlp.router.Router.forward.0").in(0).begin("Aten.topk.0.forward").in(0).out(0);
    made.tensor(Section::kOutput, kOthers, kChosen).end().out(0);
    if (gives_integers) {
      made.tensor(Section::kOutput, kOthers, kChosen);
    }
    made.end().leaf("Module.mlp.experts.Experts.forward.0", 0, 0.2).out(0).end().out(0).end();
    const Verdict verdict = made.verdict();
    EXPECT_EQ(verdict.statistics.suspect.value_or(Spot{}).code, "mlp.experts");
    EXPECT_FALSE(verdict.statistics.fault.has_value());
    EXPECT_EQ(verdict.discrete, 1);
  }
}

// Experts that are modules get as many tokens as the router gives them.
Case routed(const std::string& target_rows, const std::string& golden_rows, const std::string& other_rows) {
  Case made;
  const auto rows = [](const std::string& count) { return Tensor{.shape = "[" + count + ", 8]"}; };
  made.begin("Module.__root__.Model.forward.0").in(0).begin("Module.mlp.Mixture.forward.0").in(0);
  made.begin("Module.mlp.experts.0.Mlp.forward.0").tensor(Section::kInput, rows(target_rows), rows(golden_rows));
  made.tensor(Section::kOutput, rows(target_rows), rows(golden_rows)).end();
  made.begin("Module.mlp.experts.1.Mlp.forward.0").tensor(Section::kInput, rows(other_rows), rows(other_rows));
  made.tensor(Section::kOutput, rows(other_rows), rows(other_rows)).end().out(0).end().out(0).end();
  return made;
}

TEST(DiscreteChoice, OtherRowsForAnExpertAreRouting) {
  const Verdict verdict = routed("9", "10", "3").verdict();
  EXPECT_EQ(verdict.first(), nullptr);
  EXPECT_EQ(verdict.discrete, 1);
}

TEST(DiscreteChoice, OtherRowsForALayerAreAFault) {
  EXPECT_EQ(routed("9", "10", "10").verdict().statistics.fault.value_or(Spot{}).finding, Finding::kShape)
      << "members that all get the same rows are layers";
}

}  // namespace
}  // namespace msprobe::compare::divergence

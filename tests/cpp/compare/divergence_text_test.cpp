// SPDX-License-Identifier: Apache-2.0
// The sentences, word by word, and the JSON, read by a parser that is not ours.
#include "compare/divergence_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "divergence_case.h"

namespace msprobe::compare::divergence {
namespace {

bool has_line(const std::vector<std::string>& lines, std::string_view part) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

Case layer(double a, double b_in, double layer_out) {
  Case made;
  made.begin("Module.__root__.Model.forward.0").in(0).begin("Module.l.Layer.forward.0").in(0);
  made.leaf("Module.l.a.Linear.forward.0", 0, a).leaf("Module.l.b.Linear.forward.0", b_in, 0).out(layer_out).end().out(0).end();
  return made;
}

TEST(Sentence, SaysWhereWithNumbersAndNeverWhy) {
  EXPECT_EQ(sentence(layer(0.5, 0, 0).verdict()),
            "First fault: first visible at output 0 of Module.l.a.Linear.forward.0: Max 1.5, golden 1; E 0.5 is 4.19e+06 x the "
            "noise so "
            "far (1.19e-07); look inside l.a.");
  EXPECT_EQ(sentence(layer(0, 0.5, 0).verdict()),
            "First fault: first visible at input 0 of Module.l.b.Linear.forward.0: Max 1.5, golden 1; E 0.5 is 4.19e+06 x the "
            "noise so "
            "far (1.19e-07); look in the own code of l before l.b (residual, rotation, softmax, mask, cache), since all "
            "outputs before "
            "it were fine.");
  EXPECT_EQ(
      sentence(layer(0, 0, 0.5).verdict()),
      "First fault: first visible at output 0 of Module.l.Layer.forward.0: Max 1.5, golden 1; E 0.5 is 4.19e+06 x the noise so "
      "far (1.19e-07); look in the own code of l, after its last child.");
}

TEST(Rider, OnInputsThatAreFineByTheirStatisticsAlone) {
  constexpr std::string_view kRider = "Its inputs are fine as far as their statistics show";
  EXPECT_TRUE(has_line(riders(layer(0.5, 0, 0).verdict()), kRider));
  EXPECT_FALSE(has_line(riders(layer(0, 0.5, 0).verdict()), kRider)) << "at an input";
  EXPECT_FALSE(has_line(riders(layer(0, 0, 0.5).verdict()), kRider)) << "in the code between modules";
  Case made;
  made.begin("Module.a.A.forward.0").out(0.5).end();
  EXPECT_FALSE(has_line(riders(made.verdict()), kRider)) << "without an input";
  for (const std::string name : {"Aten.mm.0.forward", "Aten.add.0.forward"}) {
    Case operators;
    operators.begin("Module.a.A.forward.0").in(0).op(name, name, 0, 0.5).out(0.5).end();
    EXPECT_EQ(has_line(riders(operators.verdict()), kRider), name == "Aten.mm.0.forward") << name;
  }
  Case compared = layer(0.5, 0, 0);
  Input input = compared.input();
  for (Place& place : input.places) {
    place.relative_l2 = 0;
  }
  EXPECT_FALSE(has_line(riders(find(input)), kRider)) << "where elements were compared";
}

TEST(Sentence, NeverSaysEqual) {
  const std::string text = sentence(layer(0, 0, 0).verdict());
  EXPECT_EQ(text, "No jump above 8 x noise; noise ended at B = 1.19e-07 (4 calls, float32 against float32).");
  EXPECT_EQ(sentence(Case().verdict()), "Nothing to judge: no input or output of a call has numbers on both sides.");
  for (const std::string& line : report(layer(0, 0, 0).verdict())) {
    EXPECT_EQ(line.find("equal"), std::string::npos);
  }
}

TEST(Sentence, OfHardDifferences) {
  const auto told = [](const Tensor& target, const Tensor& golden) {
    Case made;
    made.begin("Module.a.A.forward.0").in(0).tensor(Section::kOutput, target, golden).end();
    return sentence(made.verdict());
  };
  const double nan = std::nan("");
  EXPECT_NE(told({.numbers = {nan, nan, nan, nan}}, {}).find("Max NaN, golden 1;"), std::string::npos);
  EXPECT_NE(told({.shape = "[2]"}, {}).find("shape [2], golden [64, 64];"), std::string::npos);
  EXPECT_NE(told({}, {.numbers = {0, 0, 0, 0}}).find("Norm 32, golden 0 (all zero);"), std::string::npos);
  Case missing;
  missing.begin("Module.a.A.forward.0").in(0).out(0).only_golden(Section::kOutput, {}, "1").end();
  EXPECT_NE(sentence(missing.verdict()).find("output 1 of Module.a.A.forward.0: only golden has this tensor;"),
            std::string::npos);
  Case ids;
  ids.begin("Module.__root__.M.forward.0").tensor(Section::kInput, integers(4, 1), integers(3, 1)).out(0).end();
  EXPECT_NE(sentence(ids.verdict()).find("integers that must be equal differ (Max 4, golden 3); look at the caller"),
            std::string::npos);
}

TEST(Sentence, CloseNumbersAreToldApart) {
  Case made;
  made.begin("Module.a.A.forward.0")
      .in(0)
      .tensor(Section::kOutput, {.numbers = {123456.0, -1, 0, 123456}}, {.numbers = {123440.0, -1, 0, 123456}})
      .end();
  EXPECT_NE(sentence(made.verdict()).find("Max 123456, golden 123440;"), std::string::npos) << sentence(made.verdict());
}

TEST(Sentence, OfAWeight) {
  Case made;
  made.begin("Module.a.Linear.forward.0").in(0).parameter(off_by(0.25), {}, "weight").out(0).end();
  const Verdict verdict = made.verdict();
  EXPECT_EQ(sentence(verdict).rfind(
                "Suspect weight: parameter weight of Module.a.Linear.forward.0: Max 1.25, golden 1; E 0.25 is ", 0),
            0U);
  EXPECT_TRUE(has_line(riders(verdict), "Of inputs and outputs: No jump above 8 x noise"));
}

TEST(Sentence, WithAnOperator) {
  Case made;
  made.begin("Module.a.A.forward.0").in(0).op("Aten.mm.0.forward", "Aten.mm.0.forward", 0, 0.5).out(0.5).end();
  EXPECT_NE(sentence(made.verdict()).find("; the first operator with a bad output is Aten.mm.0.forward (E 0.5)."),
            std::string::npos);
}

TEST(Sentence, WithOperatorsOfWhichNoneStandsOut) {
  for (const bool more : {false, true}) {
    Case made;
    made.begin("Module.a.A.forward.0").in(0).op("Aten.exp.0.forward", "Aten.exp.0.forward", 0, 4e-7);
    made.op("Aten.add.0.forward", "Aten.add.0.forward", 0, 0).op(more ? "Aten.amax.0.forward" : "", "", 0, 0.5);
    made.out(0.5).out(0.5).end();
    const std::string text = sentence(made.verdict(Case::Order::kStamps));
    const std::string_view expected = more ? "; of the operators inside that both sides have, none stands out."
                                           : "; no operator inside stands out, the largest step is at Aten.exp.0.forward";
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  }
}

TEST(Riders, SayWhatLimitsTheSentence) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, 1e-7).begin("Module.x.X.forward.0", "").in(0).out(0).end();
  made.leaf("Module.b.B.forward.0", 0, 1.1e-6);
  made.leaf("Module.c.C.forward.0", 0, 8e-6).leaf("Module.d.D.forward.0", 0, 6e-5).leaf("Module.e.E.forward.0", 0, 0.05);
  const Verdict verdict = made.verdict(Case::Order::kStarts);
  const std::vector<std::string> lines = riders(verdict);
  EXPECT_TRUE(has_line(lines, "It may have started earlier: the step is small."));
  EXPECT_TRUE(has_line(lines, "1 call without a partner ran since the last place that was fine"));
  EXPECT_TRUE(has_line(lines, "First fault: first visible at output 0 of Module.e.E.forward.0"))
      << "the fault after the suspect";
  EXPECT_TRUE(has_line(lines, "has no order of execution"));
  EXPECT_TRUE(has_line(lines, "1 call of the target has no partner"));
}

TEST(Riders, SayFromWhereOnOnlyScaleFaultsAreVisible) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, 9e-7).leaf("Module.b.B.forward.0", 0, 7e-6).leaf("Module.c.C.forward.0", 0, 5e-5);
  made.leaf("Module.d.D.forward.0", 0, 4e-4).leaf("Module.e.E.forward.0", 0, 3e-3).leaf("Module.f.F.forward.0", 0, 0.02);
  made.leaf("Module.g.G.forward.0", 0, 0.1);
  EXPECT_TRUE(has_line(riders(made.verdict()), "From Module.g.G.forward.0 on only scale faults are visible"));
}

TEST(Chain, HasTheCallsBeforeAndAfter) {
  const std::vector<std::string> expected{"in      Module.__root__.Model.forward.0", "in      Module.l.Layer.forward.0",
                                          "before  Module.l.a.Linear.forward.0  0", "here    Module.l.b.Linear.forward.0  0.5"};
  EXPECT_EQ(chain(layer(0, 0.5, 0).verdict()), expected);
  EXPECT_TRUE(chain(layer(0, 0, 0).verdict()).empty());
}

TEST(Json, IsValidWhateverWasFound) {
  const double nan = std::nan("");
  Case hard;
  hard.begin("Module.\"a\\\n.A.forward.0").in(0).tensor(Section::kOutput, {.numbers = {nan, nan, nan, nan}}, {}).end();
  for (Case made : {layer(0, 0, 0), layer(0.5, 0, 0), Case()}) {
    std::string text;
    append_json(text, made.verdict());
    EXPECT_TRUE(nlohmann::json::accept(text)) << text;
  }
  std::string text;
  append_json(text, hard.verdict());
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["result"], "first fault");
  EXPECT_EQ(json["first"]["target"], "nan");
  EXPECT_EQ(json["first"]["golden"], 1.0);
  EXPECT_EQ(json["first"]["distance"], "pos_inf");
  EXPECT_EQ(json["first"]["finding"], "not finite");
  EXPECT_EQ(json["by_elements"], nullptr);
}

TEST(Json, HasEverythingThatTheSentenceSays) {
  std::string text;
  append_json(text, layer(0, 0.5, 0).verdict());
  const auto json = nlohmann::json::parse(text);
  const auto& spot = json["by_statistics"]["first_fault"];
  EXPECT_EQ(spot, json["first"]);
  EXPECT_EQ(spot["where"], "own code before the call");
  EXPECT_EQ(spot["code"], "l");
  EXPECT_EQ(spot["section"], "input");
  EXPECT_EQ(spot["before"][0]["call"], "Module.l.a.Linear.forward.0");
  EXPECT_EQ(spot["around"][1], "Module.l.Layer.forward.0");
  EXPECT_EQ(json["unit"], 0x1p-24);
  EXPECT_EQ(json["target_type"], "torch.float32");
  EXPECT_TRUE(json["ordered"].get<bool>());
}

}  // namespace
}  // namespace msprobe::compare::divergence

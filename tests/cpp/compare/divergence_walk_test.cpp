// SPDX-License-Identifier: Apache-2.0
// The walk: what is named, with which grade, and what the noise is at each place.
#include <gtest/gtest.h>

#include <cmath>

#include "compare/divergence_rule.h"
#include "divergence_case.h"

namespace msprobe::compare::divergence {
namespace {

using Order = Case::Order;

constexpr double kStart = 2 * 0x1p-24;  // B at the start in float32

// A model of two layers, each with two children; `edit` changes single numbers by "place".
struct Distances {
  double ids = 0, layer_in = 1e-7, a_in = 1e-7, a = 1e-7, b_in = 1e-7, b = 1e-7, layer = 1e-7, next = 1e-7, head_in = 1e-7,
         head = 1e-7;
};

Case model(const Distances& d) {
  Case made;
  made.begin("Module.__root__.Model.forward.0").in(d.ids);
  made.begin("Module.layers.0.Layer.forward.0").in(d.layer_in);
  made.leaf("Module.layers.0.a.Linear.forward.0", d.a_in, d.a);
  made.leaf("Module.layers.0.b.Linear.forward.0", d.b_in, d.b);
  made.out(d.layer).end();
  made.begin("Module.layers.1.Layer.forward.0").in(d.layer);
  made.leaf("Module.layers.1.a.Linear.forward.0", d.layer, d.next).leaf("Module.layers.1.b.Linear.forward.0", d.next, d.next);
  made.out(d.next).end();
  made.leaf("Module.head.Linear.forward.0", d.head_in, d.head);
  made.out(d.head).end();
  return made;
}

const Spot& fault_of(const Verdict& verdict) {
  EXPECT_TRUE(verdict.statistics.fault.has_value());
  static const Spot kNone;
  return verdict.statistics.fault ? *verdict.statistics.fault : kNone;
}

TEST(Walk, NothingAboveNoise) {
  for (const Order order : {Order::kStamps, Order::kStarts, Order::kEnds}) {
    const Verdict verdict = model({}).verdict(order);
    EXPECT_EQ(verdict.first(), nullptr);
    EXPECT_DOUBLE_EQ(verdict.unit, 0x1p-24);
    EXPECT_EQ(verdict.calls, 8);
    EXPECT_EQ(verdict.judged, 16);
    EXPECT_EQ(verdict.ordered, order == Order::kStamps);
    EXPECT_DOUBLE_EQ(verdict.statistics.noise_end, kStart);
    EXPECT_NEAR(verdict.statistics.largest, 1e-7, 1e-8);
  }
}

TEST(Walk, OutputOfALeaf) {
  for (const Order order : {Order::kStamps, Order::kStarts, Order::kEnds}) {
    const Verdict verdict = model({.b = 0.5, .layer = 0.5, .next = 0.5, .head = 0.5}).verdict(order);
    const Spot& spot = fault_of(verdict);
    EXPECT_EQ(spot.where, Where::kCall);
    EXPECT_EQ(spot.code, "layers.0.b");
    EXPECT_EQ(spot.call, "Module.layers.0.b.Linear.forward.0");
    EXPECT_EQ(spot.section, Section::kOutput);
    EXPECT_EQ(spot.path, "0");
    EXPECT_EQ(spot.statistic, Statistic::kMax);
    EXPECT_EQ(spot.target, 1.5);
    EXPECT_EQ(spot.golden, 1.0);
    EXPECT_NEAR(spot.distance, 0.5, 1e-6);
    EXPECT_DOUBLE_EQ(spot.noise, kStart);
    EXPECT_FALSE(spot.may_have_started_earlier);
    EXPECT_EQ(verdict.first(), &*verdict.statistics.fault);
  }
}

TEST(Walk, AContainersOwnCodeAfterItsLastChild) {
  for (const Order order : {Order::kStamps, Order::kStarts, Order::kEnds}) {
    const Spot spot = fault_of(model({.layer = 0.5, .next = 0.5, .head = 0.5}).verdict(order));
    EXPECT_EQ(spot.where, Where::kTail);
    EXPECT_EQ(spot.code, "layers.0");
    EXPECT_EQ(spot.call, "Module.layers.0.Layer.forward.0");
  }
}

TEST(Walk, TheParentsCodeBeforeAModule) {
  for (const Order order : {Order::kStamps, Order::kStarts, Order::kEnds}) {
    const Spot spot = fault_of(model({.b_in = 0.5, .b = 0.5}).verdict(order));
    EXPECT_EQ(spot.where, Where::kBefore);
    EXPECT_EQ(spot.code, "layers.0");
    EXPECT_EQ(spot.call, "Module.layers.0.b.Linear.forward.0");
    EXPECT_EQ(spot.section, Section::kInput);
    EXPECT_EQ(spot.around.size(), 2U);
  }
  const Spot spot = fault_of(model({.head_in = 0.5, .head = 0.5}).verdict());
  EXPECT_EQ(spot.code, "__root__");
  EXPECT_EQ(spot.call, "Module.head.Linear.forward.0");
}

TEST(Walk, TheCaller) {
  for (const Order order : {Order::kStamps, Order::kStarts, Order::kEnds}) {
    const Spot spot = fault_of(model({.ids = 0.5, .layer_in = 0.5}).verdict(order));
    EXPECT_EQ(spot.where, Where::kCaller);
    EXPECT_EQ(spot.call, "Module.__root__.Model.forward.0");
  }
}

TEST(Walk, WithoutARecordedParentTheNamesTellIt) {
  Case filtered;
  filtered.leaf("Module.layers.0.a.Linear.forward.0", 1e-7, 1e-7).leaf("Module.layers.0.b.Linear.forward.0", 0.5, 0.5);
  const Spot spot = fault_of(filtered.verdict());
  EXPECT_EQ(spot.where, Where::kBefore);
  EXPECT_EQ(spot.code, "layers.0");
}

TEST(Walk, NoiseIsTheLargestOfEarlierOutputsAndNotOfInputs) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, 7 * kStart).leaf("Module.b.B.forward.0", 50 * kStart, 3 * kStart);
  made.leaf("Module.c.C.forward.0", 0, 55 * kStart);
  EXPECT_EQ(made.verdict().first(), nullptr) << "50 < 8 x 7, and so is 55";
  made.leaf("Module.d.D.forward.0", 0, 400 * kStart);
  EXPECT_EQ(made.verdict().first(), nullptr) << "400 < 8 x 55";
  made.leaf("Module.e.E.forward.0", 0, 3300 * kStart);
  const Verdict verdict = made.verdict();
  ASSERT_TRUE(verdict.statistics.suspect.has_value());
  EXPECT_EQ(verdict.statistics.suspect->code, "e");
  EXPECT_NEAR(verdict.statistics.suspect->noise, 400 * kStart, kStart);
}

TEST(Grades, ASuspectIsKeptAndTheWalkGoesOnToTheFault) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, kStart).leaf("Module.b.B.forward.0", 0, 12 * kStart);
  made.leaf("Module.c.C.forward.0", 12 * kStart, 12 * kStart).leaf("Module.d.D.forward.0", 12 * kStart, 200 * kStart);
  const Verdict verdict = made.verdict();
  ASSERT_TRUE(verdict.statistics.suspect && verdict.statistics.fault);
  EXPECT_EQ(verdict.statistics.suspect->code, "b");
  EXPECT_EQ(verdict.statistics.suspect->grade, Grade::kSuspect);
  EXPECT_TRUE(verdict.statistics.suspect->may_have_started_earlier);
  EXPECT_EQ(verdict.statistics.fault->code, "d");
  EXPECT_NEAR(verdict.statistics.fault->ratio, 200.0 / 12, 0.01);
  EXPECT_FALSE(verdict.statistics.fault->may_have_started_earlier);
  EXPECT_EQ(verdict.first(), &*verdict.statistics.suspect) << "the earlier of the two";
}

TEST(Grades, ASuspectInputIsNoiseToWhatFollows) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, kStart).leaf("Module.b.B.forward.0", 12 * kStart, 90 * kStart);
  const Verdict verdict = made.verdict();
  ASSERT_TRUE(verdict.statistics.suspect.has_value());
  EXPECT_EQ(verdict.statistics.suspect->where, Where::kBefore);
  EXPECT_FALSE(verdict.statistics.fault.has_value());
}

TEST(Grades, HintsOnRequestOnly) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, kStart).leaf("Module.b.B.forward.0", 0, 6 * kStart);
  EXPECT_TRUE(made.verdict().statistics.hints.empty());
  const Verdict verdict = made.verdict(Order::kStamps, {.hints = true});
  ASSERT_EQ(verdict.statistics.hints.size(), 1U);
  EXPECT_EQ(verdict.statistics.hints[0].grade, Grade::kHint);
  EXPECT_EQ(verdict.first(), nullptr);
}

TEST(Grades, TheLimitsAreStrict) {
  const auto grade = [](double ratio) {
    Case made;
    // Powers of two: distances are exact.
    made.leaf("Module.a.A.forward.0", 0, kStart).leaf("Module.b.B.forward.0", 0, ratio * kStart);
    const Verdict verdict = made.verdict();
    return verdict.statistics.fault ? Grade::kFault : verdict.statistics.suspect ? Grade::kSuspect : Grade::kNone;
  };
  EXPECT_EQ(grade(8), Grade::kNone);
  EXPECT_EQ(grade(8.25), Grade::kSuspect);
  EXPECT_EQ(grade(15.75), Grade::kSuspect);
  EXPECT_EQ(grade(16), Grade::kFault);
}

TEST(Grades, HardDifferencesAreFaults) {
  const auto hard = [](const Tensor& target, const Tensor& golden) {
    Case made;
    made.leaf("Module.a.A.forward.0", 0, 0).begin("Module.b.B.forward.0").in(0).tensor(Section::kOutput, target, golden).end();
    return made.verdict();
  };
  const double nan = std::nan("");
  const Verdict verdict = hard({.numbers = {nan, nan, nan, nan}}, {});
  EXPECT_EQ(fault_of(verdict).finding, Finding::kNotFinite);
  EXPECT_TRUE(std::isinf(fault_of(verdict).ratio));
  EXPECT_EQ(fault_of(hard({.shape = "[2]"}, {})).finding, Finding::kShape);
  EXPECT_EQ(fault_of(hard({}, {.numbers = {0, 0, 0, 0}})).finding, Finding::kGoldenZero);
  Case missing;
  missing.begin("Module.a.A.forward.0").in(0).out(0).only_golden(Section::kOutput, {}, "1").end();
  EXPECT_EQ(fault_of(missing.verdict()).finding, Finding::kMissing);
  EXPECT_EQ(fault_of(missing.verdict()).path, "1");
}

TEST(Walk, NoiseAgainstAllZeroIsNoFault) {
  const Tensor zero{.numbers = {0, 0, 0, 0}};
  const auto made = [&](double rms) {
    Case c;
    c.begin("Module.a.A.forward.0").in(0).tensor(Section::kOutput, {.numbers = {rms, -rms, 0, rms * 64}}, zero).end();
    return c.verdict();
  };
  EXPECT_EQ(made(0x1p-26).first(), nullptr) << "below u times the rms of what went in, 0.5";
  EXPECT_EQ(fault_of(made(0x1p-20)).finding, Finding::kGoldenZero);
}

TEST(Riders, SaturationAndAnEarlierStart) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, 6e-7).leaf("Module.b.B.forward.0", 0, 4e-6).leaf("Module.c.C.forward.0", 0, 3e-5);
  made.leaf("Module.d.D.forward.0", 0, 2e-4).leaf("Module.e.E.forward.0", 0, 1e-3).leaf("Module.f.F.forward.0", 0, 7e-3);
  made.leaf("Module.g.G.forward.0", 0, 0.05).leaf("Module.h.H.forward.0", 0, 2);
  const Verdict verdict = made.verdict();
  EXPECT_EQ(verdict.statistics.saturated_at, "Module.g.G.forward.0");
  EXPECT_EQ(fault_of(verdict).code, "h");
  EXPECT_TRUE(fault_of(verdict).may_have_started_earlier) << "40 x, but B was 0.05";
}

TEST(Walk, CallsWithoutPartnersAreCountedSinceTheLastFinePlace) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, 0).begin("Module.x.X.forward.0", "").in(0).out(0).end();
  made.leaf("Module.b.B.forward.0", 0.5, 0.5);
  const Verdict verdict = made.verdict();
  EXPECT_EQ(fault_of(verdict).unmatched_before, 1);
  EXPECT_EQ(verdict.unmatched, 1);
}

TEST(Unit, IsThatOfTheCoarserRun) {
  Case made;
  const Tensor bf16{.dtype = DType::kBFloat16};
  made.begin("Module.a.A.forward.0").tensor(Section::kOutput, bf16, {}).end();
  made.begin("Module.b.B.forward.0").tensor(Section::kOutput, bf16, {}).end();
  made.begin("Module.c.C.forward.0").out(0).end();
  const Verdict verdict = made.verdict();
  EXPECT_EQ(verdict.target_type, DType::kBFloat16);
  EXPECT_EQ(verdict.golden_type, DType::kFloat32);
  EXPECT_EQ(verdict.unit, 0x1p-8);
}

TEST(Backward, IsWalkedOnlyIfTheForwardWasFine) {
  Case made;
  made.leaf("Module.a.A.forward.0", 0, 0).leaf("Module.b.B.forward.0", 0, 0);
  made.leaf("Module.b.B.backward.0", 0, 0).leaf("Module.a.A.backward.0", 0, 0.5);
  const Verdict verdict = made.verdict();
  EXPECT_EQ(fault_of(verdict).call, "Module.a.A.backward.0");
  EXPECT_TRUE(verdict.backward);
}

}  // namespace
}  // namespace msprobe::compare::divergence

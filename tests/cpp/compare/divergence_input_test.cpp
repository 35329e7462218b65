// SPDX-License-Identifier: Apache-2.0
// From dump.json to the divergence: sections, paths, types, orders, leaves without partners.
#include "compare/divergence_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "read/dump_reader.h"

namespace msprobe::compare::divergence {
namespace {

std::string tensor(const std::string& dtype, double max) {
  return R"({"type": "torch.Tensor", "dtype": ")" + dtype + R"(", "shape": [2, 8], "Max": )" + std::to_string(max) +
         R"(, "Min": -1.0, "Mean": 0.0, "Norm": 2.0})";
}

std::string dump(const std::string& data) { return R"({"task": "statistics", "level": "L0", "data": {)" + data + "}}"; }

std::vector<LeafPair> pairs_of(const read::DumpModel& target, const read::DumpModel& golden) {
  std::vector<LeafPair> pairs;
  for (std::uint32_t t = 0; t < target.leaves.size(); ++t) {
    for (std::uint32_t g = 0; g < golden.leaves.size(); ++g) {
      std::string one;
      std::string other;
      target.append_row_name(one, target.leaves[t]);
      golden.append_row_name(other, golden.leaves[g]);
      if (one == other) {
        pairs.push_back({t, g, -1});
      }
    }
  }
  return pairs;
}

const std::string kCall = R"("Module.a.Linear.forward.0": {"input_args": [)" + tensor("torch.float32", 1) +
                          R"(, {"type": "int", "value": 3}], "input_kwargs": {"mask": {"x": )" + tensor("torch.bool", 1) +
                          R"(}}, "output": [)";
const std::string kEnd =
    R"(], "parameters": {"weight": )" + tensor("torch.float32", 1) + R"(}, "Order": {"first": 4, "last": 6}})";

TEST(Input, HasEveryTensorInItsSection) {
  const read::DumpModel target = read::parse_dump(dump(kCall + tensor("torch.bfloat16", 1.5) + kEnd), "target");
  const read::DumpModel golden = read::parse_dump(dump(kCall + tensor("Float32", 1) + kEnd), "golden");
  const Input input = make_input(target, golden, pairs_of(target, golden), 3);
  ASSERT_EQ(input.target.size(), 1U);
  EXPECT_EQ(input.target[0].first, 4);
  EXPECT_EQ(input.target[0].last, 6);
  EXPECT_EQ(input.golden_of[0], 0U);
  const std::vector<Leaf> leaves = input.leaves(Side::kTarget, 0);
  const auto place = [&](std::string_view path, Section section) {
    const auto found = std::ranges::find_if(
        input.places, [&](const Place& p) { return p.section == section && leaves.at(p.leaf).path == path; });
    return found == input.places.end() ? Place{} : *found;
  };
  EXPECT_EQ(place("0", Section::kInput).finding, Finding::kDistance);
  EXPECT_EQ(place("1", Section::kInput).finding, Finding::kSkipped) << "a number is no tensor";
  EXPECT_EQ(place("mask.x", Section::kInput).finding, Finding::kSame);
  EXPECT_EQ(place("weight", Section::kParameter).finding, Finding::kDistance);
  const Place output = place("0", Section::kOutput);
  EXPECT_NEAR(output.distance, 0.5, 1e-6);
  EXPECT_EQ(output.target_dtype, DType::kBFloat16);
  EXPECT_EQ(output.golden_dtype, DType::kFloat32);
}

TEST(Input, TensorsWithoutPartnersAreMissing) {
  const read::DumpModel target = read::parse_dump(dump(kCall + tensor("torch.float32", 1) + kEnd), "target");
  const read::DumpModel golden =
      read::parse_dump(dump(kCall + tensor("torch.float32", 1) + ", " + tensor("torch.float32", 1) + kEnd), "golden");
  const Input input = make_input(target, golden, pairs_of(target, golden));
  const auto missing = std::ranges::find(input.places, Finding::kMissing, &Place::finding);
  ASSERT_NE(missing, input.places.end());
  EXPECT_EQ(missing->leaf, kNoLeaf);
  EXPECT_EQ(input.leaves(Side::kGolden, 0).at(missing->golden_leaf).path, "1");
  const Verdict verdict = find(input);
  ASSERT_NE(verdict.first(), nullptr);
  EXPECT_EQ(verdict.first()->finding, Finding::kMissing);
}

TEST(Input, NumbersOfAllKinds) {
  const read::DumpModel model = read::parse_dump(
      dump(R"("Aten.x.0.forward": {"output": [{"type": "torch.Tensor", "dtype": "torch.int64", "shape": [], "Max": 7, "Min": 7,
              "Mean": null, "Norm": null, "Special": {"Norm": "pos_inf"}}]})"),
      "model");
  const Leaf leaf = view_leaf(model, model.leaves.at(0));
  EXPECT_EQ(leaf.dtype, DType::kInt64);
  EXPECT_EQ(leaf.numbers[0], 7);
  EXPECT_TRUE(leaf.knows(Statistic::kMin));
  EXPECT_FALSE(leaf.knows(Statistic::kMean)) << "a null without a word beside it is not known";
  EXPECT_TRUE(leaf.knows(Statistic::kNorm));
  EXPECT_TRUE(std::isinf(leaf.numbers[3]));
}

TEST(Input, TheThreadsDoNotMatter) {
  std::string data;
  for (int i = 0; i < 50; ++i) {
    data += (i ? ", " : "") + std::string(R"("Module.m)") + std::to_string(i) + R"(.Linear.forward.0": {"output": [)" +
            tensor("torch.float32", 1 + i * 1e-3) + "]}";
  }
  const read::DumpModel target = read::parse_dump(dump(data), "target");
  const read::DumpModel golden = read::parse_dump(dump(data), "golden");
  const std::vector<LeafPair> pairs = pairs_of(target, golden);
  const Input one = make_input(target, golden, pairs, 1);
  for (const int threads : {2, 7, 64}) {
    const Input several = make_input(target, golden, pairs, threads);
    ASSERT_EQ(several.places.size(), one.places.size());
    for (std::size_t i = 0; i < one.places.size(); ++i) {
      EXPECT_EQ(several.places[i].distance, one.places[i].distance);
      EXPECT_EQ(several.places[i].call, one.places[i].call);
    }
  }
  EXPECT_TRUE(make_input(target, golden, {}, 4).places.empty());
}

}  // namespace
}  // namespace msprobe::compare::divergence

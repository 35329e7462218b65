// SPDX-License-Identifier: Apache-2.0
// Names of calls, and the nesting that stamps or names give.
#include "compare/divergence_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace msprobe::compare::divergence {
namespace {

TEST(CallName, OfModulesAndOperators) {
  const auto qualified = [](std::string_view name) { return std::string(parse_call_name(name).qualified); };
  EXPECT_EQ(qualified("Module.layers.0.attn.Attention.forward.3"), "layers.0.attn");
  EXPECT_EQ(qualified("Module.__root__.Model.forward.0"), "__root__");
  EXPECT_EQ(qualified("Cell.network.Dense.forward.0"), "network");
  EXPECT_EQ(qualified("Module.layers.0.Linear.parameters_grad"), "layers.0");
  EXPECT_EQ(qualified("Aten.mm.12.forward"), "Aten.mm");
  EXPECT_EQ(qualified("Torch.my_ns.my_op.0.forward"), "Torch.my_ns.my_op");
  EXPECT_EQ(qualified("Functional.linear.4.backward"), "Functional.linear");
  EXPECT_EQ(qualified(""), "");
  EXPECT_EQ(qualified("odd"), "odd");
  EXPECT_EQ(qualified("Module."), "");
  EXPECT_TRUE(parse_call_name("Module.a.Linear.forward.0").module);
  EXPECT_FALSE(parse_call_name("Aten.mm.12.forward").module);
  EXPECT_FALSE(parse_call_name("Module.a.Linear.forward.0").backward);
  EXPECT_TRUE(parse_call_name("Module.a.Linear.backward.0").backward);
  EXPECT_TRUE(parse_call_name("Functional.linear.4.backward").backward);
  EXPECT_TRUE(parse_call_name("Module.a.Linear.parameters_grad").backward);
}

TEST(CallName, Enclosing) {
  EXPECT_EQ(enclosing_name("layers.0.attn"), "layers.0");
  EXPECT_EQ(enclosing_name("head"), "");
  EXPECT_TRUE(encloses("layers.0", "layers.0.attn.q"));
  EXPECT_FALSE(encloses("layers.1", "layers.10"));
  EXPECT_FALSE(encloses("layers.0", "layers.0"));
  EXPECT_TRUE(encloses("__root__", "head"));
  EXPECT_FALSE(encloses("__root__", "__root__"));
}

TEST(CallName, WhatComputesNothingAndWhatRanksDoTogether) {
  for (const char* name : {"Aten.view", "Tensor.transpose", "Aten._to_copy", "Aten.clone", "Aten.t", "Aten.view_as"}) {
    EXPECT_TRUE(only_moves(name)) << name;
  }
  for (const char* name : {"Aten.mm", "Aten.cat", "Functional.linear", "Aten.index_select"}) {
    EXPECT_FALSE(only_moves(name)) << name;
  }
  for (const char* name : {"Distributed.all_reduce", "Distributed.send", "Torch._c10d_functional.all_gather_into_tensor",
                           "Torch.c10d.allreduce_", "NPU.npu_mm_all_reduce_base", "Distributed.broadcast"}) {
    EXPECT_TRUE(is_collective(name)) << name;
  }
  for (const char* name : {"Aten.gather", "Aten.scatter", "Aten.broadcast_tensors", "Aten.mm", "Aten.scatter_reduce"}) {
    EXPECT_FALSE(is_collective(name)) << name;
  }
}

struct Made {
  std::vector<std::string> names;
  std::vector<Call> calls;
};

std::string parent_of(const std::vector<Call>& calls, const Tree& tree, std::string_view name) {
  const auto at = std::ranges::find(calls, name, &Call::name);
  const std::uint32_t parent = tree.nodes[static_cast<std::size_t>(at - calls.begin())].parent;
  return parent == kNoCall ? "" : std::string(calls[parent].name);
}

TEST(Tree, ByStamps) {
  const std::vector<Call> calls{{"Module.__root__.M.forward.0", 0, 9}, {"Module.a.A.forward.0", 1, 6},
                                {"Aten.mm.0.forward", 2, 3},           {"Module.a.x.X.forward.0", 4, 5},
                                {"Aten.add.0.forward", 7, 8},          {"Module.__root__.M.forward.1", 10, 11}};
  const Tree tree = build_tree(calls);
  EXPECT_EQ(tree.nesting, Nesting::kStamps);
  EXPECT_EQ(parent_of(calls, tree, "Module.a.x.X.forward.0"), "Module.a.A.forward.0");
  EXPECT_EQ(parent_of(calls, tree, "Aten.mm.0.forward"), "Module.a.A.forward.0");
  EXPECT_EQ(parent_of(calls, tree, "Aten.add.0.forward"), "Module.__root__.M.forward.0");
  EXPECT_EQ(parent_of(calls, tree, "Module.__root__.M.forward.1"), "");
  EXPECT_TRUE(tree.nodes[0].has_modules);
  EXPECT_FALSE(tree.nodes[3].has_modules);
  EXPECT_EQ(tree.events.size(), 12U);
  EXPECT_LT(tree.nodes[1].start, tree.nodes[3].start);
  EXPECT_GT(tree.nodes[1].end, tree.nodes[3].end);
}

TEST(Tree, TheOrderOfTheFileDoesNotMatterWhereThereAreStamps) {
  const std::vector<Call> calls{
      {"Module.a.x.X.forward.0", 4, 5}, {"Module.a.A.forward.0", 1, 6}, {"Module.__root__.M.forward.0", 0, 9}};
  const Tree tree = build_tree(calls);
  EXPECT_EQ(parent_of(calls, tree, "Module.a.x.X.forward.0"), "Module.a.A.forward.0");
  EXPECT_EQ(tree.events[0].call, 2U);
}

// A module that takes no tensor has no stamp before its children.
TEST(Tree, AModuleWithoutInputsIsFoundByItsChildrensNames) {
  const std::vector<Call> calls{
      {"Module.a.x.X.forward.0", 1, 2}, {"Module.a.A.forward.0", 3, 3}, {"Module.b.B.forward.0", 4, 5}};
  const Tree tree = build_tree(calls);
  EXPECT_EQ(parent_of(calls, tree, "Module.a.x.X.forward.0"), "Module.a.A.forward.0");
  EXPECT_TRUE(tree.nodes[1].has_modules);
}

std::vector<Call> unstamped(const std::vector<std::string_view>& names) {
  std::vector<Call> calls;
  for (const std::string_view name : names) {
    calls.push_back({name, -1, -1});
  }
  return calls;
}

TEST(Tree, ByNamesWhereCallsStandAtTheirStart) {
  const std::vector<Call> calls = unstamped({"Module.m.M.forward.0", "Module.m.a.A.forward.0", "Module.m.a.x.X.forward.0",
                                             "Module.m.b.B.forward.0", "Module.m.M.forward.1", "Module.m.a.A.forward.1"});
  const Tree tree = build_tree(calls);
  EXPECT_EQ(tree.nesting, Nesting::kStartsFirst);
  EXPECT_EQ(parent_of(calls, tree, "Module.m.a.x.X.forward.0"), "Module.m.a.A.forward.0");
  EXPECT_EQ(parent_of(calls, tree, "Module.m.b.B.forward.0"), "Module.m.M.forward.0");
  EXPECT_EQ(parent_of(calls, tree, "Module.m.a.A.forward.1"), "Module.m.M.forward.1");
}

TEST(Tree, ByNamesWhereCallsStandAtTheirEnd) {
  const std::vector<Call> calls = unstamped({"Module.m.a.x.X.forward.0", "Module.m.a.A.forward.0", "Module.m.b.B.forward.0",
                                             "Module.m.M.forward.0", "Module.m.a.x.X.forward.1", "Module.m.a.A.forward.1"});
  const Tree tree = build_tree(calls);
  EXPECT_EQ(tree.nesting, Nesting::kEndsFirst);
  EXPECT_EQ(parent_of(calls, tree, "Module.m.a.x.X.forward.0"), "Module.m.a.A.forward.0");
  EXPECT_EQ(parent_of(calls, tree, "Module.m.b.B.forward.0"), "Module.m.M.forward.0");
  EXPECT_EQ(parent_of(calls, tree, "Module.m.a.A.forward.1"), "");
  // m starts before its first child, and so does m.a.
  EXPECT_EQ(tree.events[0].call, 3U);
  EXPECT_EQ(tree.events[1].call, 1U);
  EXPECT_EQ(tree.events[2].call, 0U);
}

TEST(Tree, OfNothing) { EXPECT_TRUE(build_tree({}).events.empty()); }

}  // namespace
}  // namespace msprobe::compare::divergence

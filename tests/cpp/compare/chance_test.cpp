// SPDX-License-Identifier: Apache-2.0
// Which operators have a partner by chance.
#include "compare/chance.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/files_of_text.h"
#include "read/dump_reader.h"

namespace msprobe::compare {
namespace {

using Names = std::vector<std::string>;

class ChanceFixture : public RunFixture {
 protected:
  read::DumpModel dump(const std::string& side, const Names& names) {
    std::string data;
    for (const std::string& name : names) {
      data += (data.empty() ? "" : ", ") + ('"' + name + R"(": {"input_args": [], "input_kwargs": {}, "output": []})");
    }
    return read::read_dump(write(side + "/dump.json", R"({"task": "statistics", "level": "mix", "data": {)" + data + "}}"));
  }

  Names by_chance(const Names& target, const Names& golden) {
    const read::DumpModel left = dump("t", target);
    const read::DumpModel right = dump("g", golden);
    const std::vector<bool> found = paired_by_chance(left, right);
    Names names;
    for (std::size_t op = 0; op < found.size(); ++op) {
      if (found[op]) {
        names.emplace_back(left.text(left.ops[op].name));
      }
    }
    return names;
  }
};

TEST_F(ChanceFixture, OperatorsThatOneSideCallsMoreOften) {
  const Names target = {"Module.a.Linear.forward.0", "Aten.mm.0.forward", "Aten.copy_.0.forward", "Aten.copy_.1.forward"};
  const Names golden = {"Module.a.Linear.forward.0", "Aten.mm.0.forward", "Aten.copy_.0.forward"};
  EXPECT_EQ(by_chance(target, golden), (Names{"Aten.copy_.0.forward", "Aten.copy_.1.forward"}));
  EXPECT_EQ(by_chance(golden, target), (Names{"Aten.copy_.0.forward"}));
}

TEST_F(ChanceFixture, DirectionsCountTogetherAndModulesNever) {
  const Names target = {"Module.a.Linear.forward.0", "Module.a.Linear.forward.1", "Aten.mm.0.forward", "Aten.mm.0.backward"};
  EXPECT_EQ(by_chance(target, {"Module.a.Linear.forward.0", "Aten.mm.0.forward"}),
            (Names{"Aten.mm.0.forward", "Aten.mm.0.backward"}));
}

TEST_F(ChanceFixture, WithoutModulesEveryPairCounts) {
  EXPECT_EQ(by_chance({"Aten.mm.0.forward", "Aten.mm.1.forward"}, {"Aten.mm.0.forward"}), Names{});
  EXPECT_EQ(by_chance({"Aten.mm.0.forward", "Aten.mm.1.forward"}, {"Aten.mm.0.forward", "Module.a.Linear.forward.0"}), Names{});
}

// Of two errors the one that is known to be one comes first, and it alone is the largest.
TEST_F(ChanceFixture, SummariesGoByTheOthers) {
  const auto side = [](const std::string& module_norm, const std::string& operator_norm, const std::string& more) {
    const auto entry = [](const std::string& name, const std::string& norm) {
      return '"' + name +
             R"(": {"input_args": [], "input_kwargs": {}, "output": [{"type": "torch.Tensor", "dtype": "torch.float32", )" +
             R"("shape": [4], "Max": 1.0, "Min": -1.0, "Mean": 0.5, "Norm": )" + norm + "}]}";
    };
    return R"({"task": "statistics", "level": "mix", "data": {)" + entry("Aten.copy_.0.forward", operator_norm) + ", " +
           entry("Module.a.Linear.forward.0", module_norm) + more + "}}";
  };
  write("t/dump.json", side("5.0", "9.0", R"(, "Aten.copy_.1.forward": {"input_args": [], "input_kwargs": {}, "output": []})"));
  write("g/dump.json", side("1.0", "1.0", ""));
  const Summary summary = run(options("t", "g"));
  ASSERT_EQ(summary.worst.size(), 2U);
  EXPECT_EQ(summary.worst[0].target_name, "Module.a.Linear.forward.0.output.0");
  EXPECT_EQ(summary.worst[1].target_name, "Aten.copy_.0.forward.output.0");
  EXPECT_EQ(summary.pairs[0].largest_relative_error, 4);
  EXPECT_EQ(summary.pairs[0].largest_relative_error_at, "Module.a.Linear.forward.0.output.0");
}

TEST_F(ChanceFixture, NamesOfAnyForm) {
  EXPECT_EQ(by_chance({"Module.a.Linear.forward.0", "odd", ".", "a.b"}, {"Module.a.Linear.forward.0"}),
            (Names{"odd", ".", "a.b"}));
}

}  // namespace
}  // namespace msprobe::compare

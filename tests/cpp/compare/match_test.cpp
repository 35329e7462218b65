// SPDX-License-Identifier: Apache-2.0
// Which rows belong together: by name, by order in the backward pass, fuzzily, by maps, by type; and what is left over.
#include "compare/match.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/dumps_of_text.h"

namespace msprobe::compare {
namespace {

using Texts = std::vector<std::string>;

std::string out_only(const std::string& name, const std::string& norm = "4.0") {
  return entry(name, {}, {norm_of(norm).json()});
}

std::string all(const Texts& entries) {
  std::string text;
  for (const std::string& one : entries) {
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

TEST(Match, RowsOfOneNameAreARow) {
  const TextTable table = compare_entries(out_only("Torch.add.0.forward"), out_only("Torch.add.0.forward"));
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(at(table, 0, "NPU Name"), "Torch.add.0.forward.output.0");
  EXPECT_EQ(at(table, 0, "Bench Name"), "Torch.add.0.forward.output.0");
  EXPECT_EQ(at(table, 0, "Result"), "pass");
  EXPECT_EQ(at(table, 0, "Err_message"), "[]");
}

TEST(Match, RowsOfOneSideAreUnmatchedWithTheReason) {
  const TextTable table = compare_entries(
      all({out_only("Torch.add.0.forward"), out_only("Torch.mul.0.forward")}),
      all({out_only("Torch.sub.10.forward"), out_only("Torch.sub.9.forward"), out_only("Torch.mul.0.forward")}));
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(column_of(table, "Result"), (Texts{"unmatched", "pass", "unmatched", "unmatched"}));
  EXPECT_EQ(column_of(table, "NPU Name"),
            (Texts{"Torch.add.0.forward.output.0", "Torch.mul.0.forward.output.0", "N/A", "N/A"}));
  EXPECT_EQ(column_of(table, "Bench Name"),
            (Texts{"N/A", "Torch.mul.0.forward.output.0", "Torch.sub.9.forward.output.0", "Torch.sub.10.forward.output.0"}));
  for (const char* column :
       {"Bench Dtype", "Bench Tensor Shape", "Bench Requires_grad", "Max diff", "NormRelativeErr", "Bench max"}) {
    EXPECT_EQ(at(table, 0, column), "N/A") << column;
  }
  EXPECT_EQ(at(table, 0, "NPU max"), "1.0");
  EXPECT_EQ(at(table, 2, "NPU max"), "N/A");
  EXPECT_EQ(at(table, 2, "Bench max"), "1.0");
  EXPECT_TRUE(says(table, 0, "No bench data matched: Bench has no row of this name."));
  EXPECT_TRUE(says(table, 2, "No NPU data matched: NPU has no row of this name."));
}

TEST(Match, RequiresGradIsConsistentIfItsTwoCellsHaveOneText) {
  TensorText with_false;
  with_false.requires_grad = "false";
  TensorText without;
  without.requires_grad = "";
  const std::string data = entry("Torch.add.0.forward", {TensorText().json(), with_false.json(), without.json(), "null"}, {});
  const TextTable of_target = compare_entries(data, out_only("Torch.mul.0.forward"));
  const TextTable of_golden = compare_entries(out_only("Torch.mul.0.forward"), data);
  ASSERT_EQ(of_target.size(), 5U);
  EXPECT_EQ(column_of(of_target, "Requires_grad Consistent"), (Texts{"False", "False", "True", "True", "False"}));
  EXPECT_EQ(column_of(of_golden, "Requires_grad Consistent"), (Texts{"False", "False", "False", "True", "True"}));
  EXPECT_EQ(column_of(of_target, "NPU Dtype")[3], "N/A");
  EXPECT_EQ(column_of(of_target, "NPU Tensor Shape")[3], "N/A");
  EXPECT_EQ(column_of(of_target, "NPU max")[3], "None");
}

// Names that come from data_name may repeat.
TEST(Match, RowsOfOneNameAreJoinedEachWithEachUpToALimit) {
  TensorText named;
  named.more = R"(, "data_name": "same.pt")";
  const auto rows = [&](std::size_t count) { return entry("Torch.add.0.forward", {}, Texts(count, named.json())); };
  EXPECT_EQ(compare_entries(rows(2), rows(3)).size(), 6U);
  const TextTable table = compare_entries(rows(2), rows(kMostPartners + 2));
  ASSERT_EQ(table.size(), 2 * kMostPartners + 2);
  EXPECT_EQ(at(table, 2 * kMostPartners - 1, "Result"), "pass");
  EXPECT_EQ(at(table, 2 * kMostPartners, "Result"), "unmatched");
  EXPECT_TRUE(says(table, 2 * kMostPartners, "No NPU data matched: 16 rows of Bench before it have its name."));
  const read::DumpModel left = read::parse_dump(dump_text(rows(1)), "target.json");
  const read::DumpModel right = read::parse_dump(dump_text(rows(20)), "golden.json");
  const Matching matching = match(left, right, {});
  ASSERT_EQ(matching.warnings.size(), 1U);
  EXPECT_TRUE(matching.warnings[0].starts_with("4 rows of golden are left without a partner")) << matching.warnings[0];
  // Without a target of that name they have no partner for that reason.
  EXPECT_TRUE(says(compare_entries(out_only("Torch.mul.0.forward"), rows(20)), 20, "NPU has no row of this name"));
}

TEST(Match, ShapeIsNoCondition) {
  TensorText other;
  other.shape = "[4, 4]";
  const TextTable table = compare_entries(entry("Torch.add.0.forward", {}, {TensorText().json()}),
                                          entry("Torch.add.0.forward", {}, {other.json()}));
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(at(table, 0, "Result"), "error");
  EXPECT_EQ(at(table, 0, "Err_message"), R"(["error: The shape of NPU and Bench are inconsistent."])");
}

TEST(Match, CallsOfTheBackwardPassAreCountedByOrder) {
  const TextTable table = compare_entries(all({entry("Functional.linear.5.backward", {}, {norm_of("1.0").json()}),
                                               entry("Functional.linear.4.backward", {}, {norm_of("2.0").json()})}),
                                          all({entry("Functional.linear.1.backward", {}, {norm_of("1.0").json()}),
                                               entry("Functional.linear.0.backward", {}, {norm_of("2.0").json()})}));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(column_of(table, "Bench Name"),
            (Texts{"Functional.linear.1.backward.output.0", "Functional.linear.0.backward.output.0"}));
  EXPECT_EQ(column_of(table, "Result"), (Texts{"pass", "pass"}));
}

TEST(Match, CallsOfModulesInTheBackwardPassToo) {
  const TextTable table = compare_entries(out_only("Module.l.Linear.backward.3"), out_only("Module.l.Linear.backward.0"));
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(at(table, 0, "Bench Name"), "Module.l.Linear.backward.0.output.0");
}

TEST(Match, CallsOfTheForwardPassKeepTheirNumbers) {
  EXPECT_EQ(compare_entries(out_only("Functional.linear.5.forward"), out_only("Functional.linear.4.forward")).size(), 2U);
}

TEST(Match, RowsOfOneNameAreCrossJoined) {
  TensorText tensor;
  tensor.more = R"(, "data_name": "same.pt")";
  const std::string twice = entry("Torch.add.0.forward", {}, {tensor.json(), tensor.json()});
  EXPECT_EQ(compare_entries(twice, twice).size(), 4U);
}

TEST(Match, RowsThatAllHaveOneNameStayFew) {
  TensorText tensor;
  tensor.more = R"(, "data_name": "same.pt")";
  const std::string many = entry("Torch.add.0.forward", {}, Texts(3000, tensor.json()));
  const TextTable table = compare_entries(many, many);
  EXPECT_EQ(table.size(), 3000U * 16U + 3000U - 16U);  // each with the first sixteen; the rest of golden is unmatched
}

TEST(Match, DataNameIsTheName) {
  TensorText tensor;
  tensor.more = R"(, "data_name": "a.b.pt")";
  const TextTable table =
      compare_entries(entry("Torch.add.0.forward", {}, {tensor.json()}), entry("Torch.mul.7.forward", {tensor.json()}, {}));
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(at(table, 0, "NPU Name"), "a.b");
}

struct Types {
  const char* target;
  const char* golden;
  bool matched;
};

class Dtypes : public ::testing::TestWithParam<Types> {};

TEST_P(Dtypes, NumbersOfAllTypesAreComparedAndFlagged) {
  TensorText left;
  TensorText right;
  left.dtype = GetParam().target;
  right.dtype = GetParam().golden;
  const TextTable table =
      compare_entries(entry("Torch.add.0.forward", {}, {left.json()}), entry("Torch.add.0.forward", {}, {right.json()}));
  if (GetParam().matched) {
    ASSERT_EQ(table.size(), 1U);
    EXPECT_EQ(at(table, 0, "Max diff"), "0");
    EXPECT_EQ(at(table, 0, "Result"), "error");
    EXPECT_EQ(at(table, 0, "Err_message"), R"(["error: The dtype of NPU and Bench are inconsistent."])");
  } else {
    ASSERT_EQ(table.size(), 2U);
    EXPECT_EQ(column_of(table, "Result"), (Texts{"unmatched", "unmatched"}));
    EXPECT_TRUE(says(table, 0, "No bench data matched: dtype"));
    EXPECT_TRUE(says(table, 1, "No NPU data matched: dtype"));
  }
}

INSTANTIATE_TEST_SUITE_P(Match, Dtypes,
                         ::testing::Values(Types{R"("torch.bfloat16")", R"("torch.float32")", true},
                                           Types{R"("torch.float16")", R"("torch.float64")", true},
                                           Types{R"("Float16")", R"("BFloat16")", true},
                                           Types{R"("torch.int32")", R"("torch.int64")", true},
                                           Types{R"("torch.float8_e4m3fn")", R"("torch.float32")", true},
                                           Types{R"("torch.bool")", R"("torch.float32")", true},
                                           Types{R"("torch.Size")", R"("torch.float32")", false},
                                           Types{R"("Weird")", R"("torch.float32")", false}));

TEST(Match, AnIntAgainstAFloatArgument) {
  const TextTable table = compare_entries(entry("Torch.add.0.forward", {R"({"type": "int", "value": 2})"}, {}),
                                          entry("Torch.add.0.forward", {R"({"type": "float", "value": 2.0})"}, {}));
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(at(table, 0, "Max diff"), "0");
  EXPECT_EQ(at(table, 0, "NPU max"), "2");
  EXPECT_EQ(at(table, 0, "Bench max"), "2.0");
  EXPECT_EQ(at(table, 0, "Result"), "error");
}

// --- fuzzy ----------------------------------------------------------------------------------------------------------

MatchOptions fuzzy() {
  MatchOptions options;
  options.fuzzy = true;
  return options;
}

TEST(Fuzzy, NumbersOfCallsDoNotCount) {
  const TextTable table =
      compare_entries(all({out_only("Torch.add.0.forward"), out_only("Module.l.Linear.forward.0")}),
                      all({out_only("Torch.add.3.forward"), out_only("Module.l.Linear.forward.2")}), fuzzy());
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(column_of(table, "Bench Name"), (Texts{"Torch.add.3.forward.output.0", "Module.l.Linear.forward.2.output.0"}));
  EXPECT_EQ(column_of(table, "Result"), (Texts{"pass", "pass"}));
  EXPECT_TRUE(says(table, 0, "note: Matched by -fm under different names."));
}

TEST(Fuzzy, RowsOfEqualNamesAreNotMarked) {
  const TextTable table = compare_entries(out_only("Torch.add.0.forward"), out_only("Torch.add.0.forward"), fuzzy());
  EXPECT_EQ(at(table, 0, "Err_message"), "[]");
}

TEST(Fuzzy, ClassesOfModulesDoCount) {
  EXPECT_EQ(compare_entries(out_only("Module.l.Linear.forward.0"), out_only("Module.l.Conv2d.forward.0"), fuzzy()).size(), 2U);
}

TEST(Fuzzy, OrderIsKept) {
  // b is found; a and c of golden stand before and after it.
  const TextTable table = compare_entries(
      all({out_only("Torch.b.0.forward"), out_only("Torch.a.0.forward"), out_only("Torch.c.0.forward")}),
      all({out_only("Torch.a.1.forward"), out_only("Torch.b.1.forward"), out_only("Torch.c.1.forward")}), fuzzy());
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(column_of(table, "NPU Name"),
            (Texts{"Torch.b.0.forward.output.0", "Torch.a.0.forward.output.0", "Torch.c.0.forward.output.0", "N/A"}));
  EXPECT_EQ(column_of(table, "Bench Name"),
            (Texts{"N/A", "Torch.a.1.forward.output.0", "Torch.c.1.forward.output.0", "Torch.b.1.forward.output.0"}));
}

TEST(Fuzzy, ALongerGoldenSideIsWalkedToItsEnd) {
  const TextTable table = compare_entries(
      out_only("Torch.z.0.forward"),
      all({out_only("Torch.a.0.forward"), out_only("Torch.b.0.forward"), out_only("Torch.z.5.forward")}), fuzzy());
  EXPECT_EQ(at(table, 0, "Bench Name"), "Torch.z.5.forward.output.0");
}

TEST(Fuzzy, ChecksumsMatchToo) {
  TensorText tensor;
  tensor.more = R"(, "md5": "83dcefb7")";
  const TextTable table = compare_entries(entry("Torch.add.0.forward", {}, {tensor.json()}),
                                          entry("Torch.add.1.forward", {}, {tensor.json()}), fuzzy());
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(at(table, 0, "Result"), "pass");
}

// --- maps -----------------------------------------------------------------------------------------------------------

TEST(DataMap, NamesRowsByTheirPrintedNames) {
  const read::YamlMap map = {{"Torch.add.0.forward.output.0", "Torch.mul.0.forward.output.0"},
                             {"Functional.linear.5.backward.output.0", "Functional.matmul.7.backward.output.0"}};
  MatchOptions options;
  options.data_map = &map;
  const TextTable table = compare_entries(
      all({out_only("Torch.add.0.forward"), out_only("Functional.linear.5.backward"), out_only("Torch.x.0.forward")}),
      all({out_only("Torch.mul.0.forward"), out_only("Functional.matmul.7.backward"), out_only("Torch.x.0.forward")}), options);
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(column_of(table, "Bench Name"),
            (Texts{"Torch.mul.0.forward.output.0", "Functional.matmul.7.backward.output.0", "Torch.x.0.forward.output.0"}));
}

TEST(DataMap, OrdinalsOfBackwardCallsStillWork) {
  const read::YamlMap map = {{"Functional.linear.5.backward.output.0", "Functional.matmul.0.backward.output.0"}};
  MatchOptions options;
  options.data_map = &map;
  EXPECT_EQ(compare_entries(out_only("Functional.linear.5.backward"), out_only("Functional.matmul.7.backward"), options).size(),
            1U);
}

TEST(DataMap, SeveralRowsMayHaveOnePartnerOfAnotherType) {
  const read::YamlMap map = {{"Torch.a.0.forward.output.0", "Torch.c.0.forward.output.0"},
                             {"Torch.b.0.forward.output.0", "Torch.c.0.forward.output.0"}};
  MatchOptions options;
  options.data_map = &map;
  TensorText other;
  other.dtype = R"("Weird")";
  const TextTable table = compare_entries(all({out_only("Torch.a.0.forward"), out_only("Torch.b.0.forward")}),
                                          entry("Torch.c.0.forward", {}, {other.json()}), options);
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(column_of(table, "Result"), (Texts{"error", "error"}));
  EXPECT_TRUE(says(table, 0, "error: The dtype of NPU and Bench are inconsistent."));
}

TEST(DataMap, NamesThatNobodyHasAreToldAndBeatNothing) {
  const read::YamlMap map = {{"Torch.add.0.forward", "Torch.add.0.forward"}};
  MatchOptions options;
  options.data_map = &map;
  options.fuzzy = true;
  const read::DumpModel target = read::parse_dump(dump_text(out_only("Torch.add.0.forward")), "t");
  const read::DumpModel golden = read::parse_dump(dump_text(out_only("Torch.add.1.forward")), "g");
  const Matching matching = match(target, golden, options);
  EXPECT_EQ(matching.rows.size(), 2U);
  ASSERT_EQ(matching.warnings.size(), 2U);
  EXPECT_NE(matching.warnings[0].find("no row of target has the name 'Torch.add.0.forward'"), std::string::npos);
}

TEST(CellMap, MiddlePartsGoThroughTheMap) {
  const read::YamlMap map = {{"net.fc.Dense", "net.l.Linear"}, {"attn", "attention"}};
  MatchOptions options;
  options.cell_mapping = true;
  options.cell_map = &map;
  const TextTable table = compare_entries(
      all({out_only("Cell.net.fc.Dense.forward.0"), out_only("Cell.a.attn.Attn.backward.4")}),
      all({out_only("Module.net.l.Linear.forward.0"), out_only("Module.a.attention.Attn.backward.1")}), options);
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(column_of(table, "Bench Name"),
            (Texts{"Module.net.l.Linear.forward.0.output.0", "Module.a.attention.Attn.backward.1.output.0"}));
}

TEST(CellMap, CellsAreModulesWithoutAMap) {
  MatchOptions options;
  options.cell_mapping = true;
  EXPECT_EQ(compare_entries(out_only("Cell.a.Dense.forward.0"), out_only("Module.a.Dense.forward.0"), options).size(), 1U);
  EXPECT_EQ(compare_entries(out_only("Module.a.Dense.forward.0"), out_only("Cell.a.Dense.forward.0"), options).size(), 1U);
}

}  // namespace
}  // namespace msprobe::compare

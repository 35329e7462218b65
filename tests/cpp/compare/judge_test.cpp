// SPDX-License-Identifier: Apache-2.0
// Every rule by a pair of small dumps that breaks it, and by one that just does not.
#include "compare/judge.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/dumps_of_text.h"

namespace msprobe::compare {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kOp = "Torch.mm.0.forward";

// One op with inputs and outputs given by their norms.
TextTable by_norms(const Texts& target_in, const Texts& golden_in, const Texts& target_out, const Texts& golden_out) {
  const auto tensors = [](const Texts& norms) {
    Texts texts;
    for (const std::string& norm : norms) {
      texts.push_back(norm_of(norm).json());
    }
    return texts;
  };
  return compare_entries(entry(kOp, tensors(target_in), tensors(target_out)),
                         entry(kOp, tensors(golden_in), tensors(golden_out)));
}

// One op with one output.
TextTable outputs(const TensorText& target, const TensorText& golden) {
  return compare_entries(entry(kOp, {}, {target.json()}), entry(kOp, {}, {golden.json()}));
}

TEST(Rule1, NotFiniteInNpuAlone) {
  TensorText bad;
  bad.max = "Infinity";
  const TextTable table = outputs(bad, TensorText());
  EXPECT_EQ(at(table, 0, "Result"), "error");
  EXPECT_TRUE(says(table, 0, "error: There is nan/inf/-inf in the maximum or minimum value of NPU."));
  bad.max = "\"nan\"";
  EXPECT_TRUE(says(outputs(bad, TensorText()), 0, "nan/inf/-inf"));
  EXPECT_FALSE(says(outputs(TensorText(), bad), 0, "nan/inf/-inf"));  // golden's alone
  EXPECT_EQ(at(outputs(bad, bad), 0, "Err_message"), "[]");
}

TEST(Rule1, SpecialOfOurDumpsCounts) {
  TensorText bad;
  bad.max = "null";
  bad.more = R"(, "Special": {"Max": "neg_inf"})";
  const TextTable table = outputs(bad, TensorText());
  EXPECT_EQ(at(table, 0, "NPU max"), " -inf");
  EXPECT_TRUE(says(table, 0, "nan/inf/-inf"));
  EXPECT_TRUE(says(table, 0, "error: The Max of NPU is -Inf where Bench has 1.0."));
}

// A truth value is no number to the four columns, whatever the types.
TEST(Types, BoolAgainstFloatIsComparedAndFlagged) {
  TensorText truth;
  truth.dtype = R"("torch.bool")";
  truth.max = "true";
  truth.min = "0";
  truth.mean = truth.norm = "null";
  TensorText real;
  real.min = "0.0";
  real.mean = real.norm = "null";
  const TextTable table = outputs(truth, real);
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(at(table, 0, "Max diff"), "Diff");
  EXPECT_EQ(at(table, 0, "Min diff"), "0");
  EXPECT_EQ(at(table, 0, "Mean diff"), "0");
  EXPECT_EQ(at(table, 0, "Result"), "error");
  EXPECT_EQ(at(table, 0, "Err_message"),
            R"(["error: The dtype of NPU and Bench are inconsistent.", "error: The Max of NPU is True where Bench has 1.0."])");
}

TEST(Rule2, OutputsNormAboveOneHalf) {
  const TextTable table = by_norms({"1.0"}, {"1.0"}, {"1.6", "1.5"}, {"1.0", "1.0"});
  EXPECT_EQ(at(table, 1, "Result"), "error");
  EXPECT_TRUE(says(table, 1, "error: The NormRelativeErr of output is greater than 0.5."));
  EXPECT_FALSE(says(table, 2, "error: The NormRelativeErr"));  // 0.5 is not above 0.5
}

TEST(Rule2, NotWhereAnInputIsOffAlready) {
  EXPECT_TRUE(says(by_norms({"1.09"}, {"1.0"}, {"2.0"}, {"1.0"}), 1, "error: The NormRelativeErr"));
  EXPECT_FALSE(says(by_norms({"1.2"}, {"1.0"}, {"2.0"}, {"1.0"}), 1, "error: The NormRelativeErr"));
}

TEST(Rule2, AnInfiniteErrorCounts) {
  EXPECT_TRUE(says(by_norms({"1.0"}, {"1.0"}, {"1.0"}, {"0.0"}), 1, "error: The NormRelativeErr"));
}

TEST(Rule2, ParametersAreInputs) {
  const std::string start = R"("Module.l.Linear.forward.0": {"input_args": [], "parameters": {"weight": )";
  const TextTable table = compare_entries(start + norm_of("2.0").json() + R"(}, "output": [)" + norm_of("2.0").json() + "]}",
                                          start + norm_of("1.0").json() + R"(}, "output": [)" + norm_of("1.0").json() + "]}");
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(at(table, 0, "NPU Name"), "Module.l.Linear.forward.0.parameters.weight");
  EXPECT_EQ(column_of(table, "Result"), (Texts{"pass", "pass"}));
}

TEST(Rule3, RequiresGrad) {
  TensorText other;
  other.requires_grad = "false";
  TextTable table = outputs(TensorText(), other);
  EXPECT_EQ(at(table, 0, "Requires_grad Consistent"), "False");
  EXPECT_EQ(at(table, 0, "Err_message"), R"(["error: The Required_Grad of NPU and Bench are inconsistent"])");
  other.requires_grad = "";  // absent is not true
  table = outputs(TensorText(), other);
  EXPECT_EQ(at(table, 0, "Bench Requires_grad"), "N/A");
  EXPECT_EQ(at(table, 0, "Result"), "error");
  TensorText null;
  null.requires_grad = "null";
  EXPECT_EQ(at(outputs(null, other), 0, "Result"), "pass");
}

TextTable arguments(const std::string& target, const std::string& golden) {
  return compare_entries(entry(kOp, {target}, {}), entry(kOp, {golden}, {}));
}

TEST(Rule4, ScalarsMustBeEqual) {
  const char* const message = R"(["error: The scalar parameters of NPU and Bench are inconsistent."])";
  EXPECT_EQ(at(arguments(R"({"type": "int", "value": 3})", R"({"type": "int", "value": 2})"), 0, "Err_message"), message);
  EXPECT_EQ(at(arguments(R"({"type": "str", "value": "a"})", R"({"type": "str", "value": "b"})"), 0, "Err_message"), message);
  EXPECT_EQ(at(arguments(R"({"type": "bool", "value": true})", R"({"type": "bool", "value": false})"), 0, "Err_message"),
            message);
  EXPECT_EQ(at(arguments(R"({"type": "int", "value": 3})", R"({"type": "int", "value": 3})"), 0, "Result"), "pass");
  EXPECT_EQ(at(arguments(R"({"type": "float", "value": NaN})", R"({"type": "float", "value": NaN})"), 0, "Result"), "pass");
}

TEST(Rule4, GroupsRanksAndSlicesAreCompared) {
  const auto group = [](const char* ranks) {
    return R"({"type": "torch.ProcessGroup", "group_ranks": )" + std::string(ranks) + "}";
  };
  EXPECT_EQ(at(arguments(group("[0, 1]"), group("[0, 1]")), 0, "Result"), "pass");
  EXPECT_EQ(at(arguments(group("[0, 1]"), group("[0, 2]")), 0, "Result"), "error");
  const auto slice = [](const char* value) { return R"({"type": "slice", "value": )" + std::string(value) + "}"; };
  EXPECT_EQ(at(arguments(slice("[0, 1, null]"), slice("[0, 1, null]")), 0, "Result"), "pass");
  EXPECT_EQ(at(arguments(slice("[0, 1, null]"), slice("[0, 2, null]")), 0, "Result"), "error");
}

TEST(Rule5, DtypeWhateverTheName) {
  TensorText half;
  half.dtype = R"("torch.float16")";
  const auto one = [&](const TensorText& tensor) { return entry("Module.qkv.Linear.forward.0", {}, {tensor.json()}); };
  EXPECT_TRUE(says(compare_entries(one(half), one(TensorText())), 0, "error: The dtype of NPU and Bench are inconsistent."));
}

TEST(Rule7, TenTimesTheInputs) {
  EXPECT_EQ(at(by_norms({"1.01"}, {"1.0"}, {"1.2"}, {"1.0"}), 1, "Err_message"),
            R"(["warning: The norm relative error of output is 10 times that of input."])");
  EXPECT_EQ(at(by_norms({"1.01"}, {"1.0"}, {"1.09"}, {"1.0"}), 1, "Result"), "pass");
  EXPECT_EQ(at(by_norms({"1.0"}, {"1.0"}, {"1.2"}, {"1.0"}), 1, "Result"), "warning");
  EXPECT_EQ(at(by_norms({"1.0"}, {"1.0"}, {"1.05"}, {"1.0"}), 1, "Result"), "pass");
}

TEST(Rule7, TheBadOutputIsFlagged) {
  EXPECT_EQ(column_of(by_norms({"1.0"}, {"1.0"}, {"1.0", "1.2"}, {"1.0", "1.0"}), "Result"),
            (Texts{"pass", "pass", "warning"}));
}

TEST(Exclusions, SomeOperatorsAreNotJudged) {
  TensorText bad;
  bad.norm = "100.0";
  bad.shape = "[1]";
  for (const std::string name : {"empty", "to", "__setitem__", "new_empty_strided"}) {
    const auto op = [&](const TensorText& tensor) {
      return entry("Tensor." + name + ".0.forward", {tensor.json()}, {tensor.json()});
    };
    EXPECT_EQ(column_of(compare_entries(op(bad), op(TensorText())), "Result"), (Texts{"pass", "pass"})) << name;
  }
  const auto op = [&](const TensorText& tensor) { return entry("Aten._to_copy.0.forward", {tensor.json()}, {tensor.json()}); };
  EXPECT_EQ(at(compare_entries(op(bad), op(TensorText())), 0, "Result"), "error");
  const auto without = [&](const TensorText& tensor) { return entry("Torch.empty.0.forward", {}, {tensor.json()}); };
  EXPECT_EQ(at(compare_entries(without(bad), without(TensorText())), 0, "Result"), "error");  // no input, no exclusion
}

TEST(Exclusions, InputsOfSomeCollectivesAreNotJudged) {
  TensorText bad;
  bad.shape = "[1]";
  const auto op = [&](const TensorText& tensor) {
    return entry("Distributed.all_to_all_single.0.forward", {tensor.json()}, {tensor.json()});
  };
  EXPECT_EQ(column_of(compare_entries(op(bad), op(TensorText())), "Result"), (Texts{"pass", "error"}));
}

TEST(Sections, DecideWhatAnOutputIs) {
  // A module whose name has "output" in it; its input is far off, which is nobody's fault here.
  const auto op = [&](const char* norm) { return entry("Module.a.output.b.Linear.forward.0", {norm_of(norm).json()}, {}); };
  EXPECT_EQ(at(compare_entries(op("9.0"), op("1.0")), 0, "Result"), "pass");
  const auto bare = [&](const char* norm) {
    return R"("Torch.f.0.forward": {"input_args": [], "output": )" + norm_of(norm).json() + "}";
  };
  EXPECT_EQ(at(compare_entries(bare("9.0"), bare("1.0")), 0, "Result"), "error");
  EXPECT_EQ(at(compare_entries(bare("9.0"), bare("1.0")), 0, "NPU Name"), "Torch.f.0.forward.output");
}

TEST(Classes, OfAllFourNumbersAreErrors) {
  TensorText bad;
  bad.mean = "NaN";
  EXPECT_EQ(at(outputs(bad, TensorText()), 0, "Err_message"), R"(["error: The Mean of NPU is NaN where Bench has 0.25."])");
  bad.mean = "null";
  EXPECT_EQ(at(outputs(bad, TensorText()), 0, "Err_message"), R"(["error: The Mean of NPU is null where Bench has 0.25."])");
  TensorText left;
  TensorText right;
  left.norm = "Infinity";
  right.norm = "-Infinity";
  EXPECT_TRUE(says(outputs(left, right), 0, "error: The Norm of NPU is +Inf where Bench has -Inf."));
  left = right = TensorText();
  left.max = "NaN";
  right.max = "Infinity";
  EXPECT_EQ(at(outputs(left, right), 0, "Result"), "error");  // rule 1 alone would say nothing
  left = right = TensorText();
  left.max = "NaN";
  right.min = "NaN";
  EXPECT_EQ(at(outputs(left, right), 0, "Result"), "error");
}

TEST(AllFour, OutputsAreJudgedAgainstTheirScale) {
  TensorText bad;
  bad.max = "1.7";
  EXPECT_EQ(at(outputs(bad, TensorText()), 0, "Err_message"),
            R"(["error: The Max of output differs by more than half of Bench's largest magnitude."])");
  bad = TensorText();
  bad.mean = "0.8";  // root mean square 1
  EXPECT_EQ(at(outputs(bad, TensorText()), 0, "Err_message"),
            R"(["error: The Mean of output differs by more than half of Bench's root mean square."])");
}

TEST(AllFour, NoiseAroundZeroIsNone) {
  TensorText left;
  TensorText right;
  left.mean = "1e-9";
  right.mean = "-1e-9";
  left.min = "1e-12";
  right.min = "0.0";
  EXPECT_EQ(at(outputs(left, right), 0, "Result"), "pass");
}

TEST(AllFour, ChoicesOfIndicesAreLeftAlone) {
  TensorText left;
  TensorText right;
  left.dtype = right.dtype = R"("torch.int64")";
  left.max = "9";
  right.max = "2";
  EXPECT_EQ(at(outputs(left, right), 0, "Result"), "pass");
}

TEST(Counts, AreCompared) {
  const auto with = [](int nan, int pos_inf) {
    TensorText tensor;
    tensor.max = tensor.min = tensor.mean = tensor.norm = "NaN";
    tensor.more = R"(, "Counts": {"nan": )" + std::to_string(nan) + R"(, "pos_inf": )" + std::to_string(pos_inf) +
                  R"(, "neg_inf": 0, "zero": 3})";
    return tensor;
  };
  EXPECT_EQ(at(outputs(with(1, 0), with(1, 0)), 0, "Result"), "pass");
  EXPECT_EQ(at(outputs(with(1, 7), with(1, 0)), 0, "Err_message"),
            R"(["error: NPU has 1 NaN, 7 +Inf, 0 -Inf where Bench has 1 NaN, 0 +Inf, 0 -Inf."])");
  EXPECT_EQ(at(outputs(with(5, 0), with(1, 0)), 0, "Result"), "warning");
}

TEST(Notes, AreTold) {
  TensorText noted;
  noted.more = R"(, "Note": "numbers of the bytes as uint8")";
  const TextTable table = outputs(noted, TensorText());
  EXPECT_EQ(at(table, 0, "Result"), "pass");
  EXPECT_EQ(at(table, 0, "Err_message"), R"(["note: NPU: numbers of the bytes as uint8; Bench: no note"])");
}

TEST(Broken, OpsAndLeavesAreRowsThatSaySo) {
  const TextTable table = compare_entries(R"("Torch.a.0.forward": 5, )" + entry("Torch.b.0.forward", {}, {TensorText().json()}),
                                          entry("Torch.b.0.forward", {}, {TensorText().json()}));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(at(table, 0, "NPU Name"), "Torch.a.0.forward");
  EXPECT_EQ(at(table, 0, "Result"), "error");
  EXPECT_TRUE(says(table, 0, "error: The entry of NPU is broken: it is 5, not a mapping of sections."));
  EXPECT_EQ(at(table, 1, "Result"), "pass");
  TensorText bad;
  bad.shape = "7";
  EXPECT_TRUE(says(outputs(TensorText(), bad), 0, "error: The entry of Bench is broken: shape is not a list."));
}

// --- checksums ------------------------------------------------------------------------------------------------------

std::string with_md5(const char* md5) {
  TensorText tensor;
  tensor.more = md5 == nullptr ? "" : R"(, "md5": ")" + std::string(md5) + "\"";
  return tensor.json();
}

TEST(SavedTensors, MissingOnBothSidesAreAWarningButOfParameters) {
  const std::string tensor = TensorText().json();
  const std::string data = R"("Module.l.Linear.forward.0": {"input_args": [)" + tensor + R"(], "parameters": {"weight": )" +
                           tensor + R"(}, "output": [)" + tensor + "]}";
  const read::DumpModel model = read::parse_dump(dump_text(data, "tensor"), "dump.json");
  const TextTable table = table_of(model, model);
  EXPECT_EQ(column_of(table, "Result"), (Texts{"warning", "pass", "warning"}));
  EXPECT_TRUE(says(table, 0, "warning: Neither NPU nor Bench has a saved tensor here; only the statistics were compared."));
  EXPECT_EQ(at(table, 1, "Err_message"), "[]");
  EXPECT_EQ(at(table, 1, "Cosine"), "unsupported");
}

TEST(Md5, DiffersIsAnError) {
  const TextTable table =
      compare_entries(entry(kOp, {with_md5("a"), with_md5("b"), with_md5(nullptr), R"({"type": "int", "value": 1})"}, {}),
                      entry(kOp, {with_md5("a"), with_md5("B"), with_md5("c"), R"({"type": "int", "value": 1})"}, {}));
  EXPECT_EQ(column_of(table, "Result"), (Texts{"pass", "error", "warning", "pass"}));
  EXPECT_EQ(at(table, 1, "Err_message"), R"(["error: The CRC-32 value of NPU differs from that of the bench."])");
  EXPECT_EQ(at(table, 2, "Err_message"), R"(["warning: The parameter of NPU does not match the bench."])");
  EXPECT_EQ(column_of(table, "NPU MD5"), (Texts{"a", "b", "N/A", "83dcefb7"}));
}

TEST(Md5, NothingOnBothSidesIsNoAgreement) {
  const TextTable table = compare_entries(entry(kOp, {with_md5("a"), with_md5(nullptr), "null"}, {}),
                                          entry(kOp, {with_md5("a"), with_md5(nullptr), "null"}, {}));
  EXPECT_EQ(column_of(table, "Result"), (Texts{"pass", "warning", "pass"}));
}

TEST(Md5, IsFoundInKeywordsAndNestedLists) {
  const auto op = [](const char* md5) {
    return R"("Torch.f.0.forward": {"input_args": [], "input_kwargs": {"x": [[)" + with_md5(md5) + R"(]]}, "output": []})";
  };
  const TextTable table = compare_entries(op("a"), op("b"));
  EXPECT_EQ(at(table, 0, "NPU Name"), "Torch.f.0.forward.input.x.0.0");
  EXPECT_EQ(at(table, 0, "Result"), "error");
}

}  // namespace
}  // namespace msprobe::compare

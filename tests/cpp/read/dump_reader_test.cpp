// SPDX-License-Identifier: Apache-2.0
// dump.json into columns: names of rows, kinds of leaves, numbers, and what is wrong in it.
#include "read/dump_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"

namespace msprobe::read {
namespace {

using Texts = std::vector<std::string>;

DumpModel of_data(const std::string& data) {
  return parse_dump(R"({"task": "statistics", "data": )" + data + "}", "dump.json");
}
DumpModel of_op(const std::string& sections, const std::string& name = "Torch.f.0.forward") {
  return of_data("{\"" + name + "\": " + sections + "}");
}

Texts names(const DumpModel& model) {
  Texts all;
  for (const Leaf& leaf : model.leaves) {
    model.append_row_name(all.emplace_back(), leaf);
  }
  return all;
}

const std::string kTensor =
    R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.5, "Min": -2, "Mean": null})";

std::string problem(const DumpModel& model, std::size_t leaf = 0) {
  return std::string(model.text(model.extra(model.leaves[leaf]).problem));
}
std::string dtype(const DumpModel& model, std::size_t leaf = 0) { return std::string(model.dtypes[model.leaves[leaf].dtype]); }
std::string shape(const DumpModel& model, std::size_t leaf = 0) { return std::string(model.shapes[model.leaves[leaf].shape]); }

TEST(DumpReader, ReadsATensor) {
  const DumpModel model = of_op(R"({"input_args": [)" + kTensor + "]}");
  ASSERT_EQ(model.leaves.size(), 1U);
  const Leaf& leaf = model.leaves[0];
  EXPECT_EQ(names(model), (Texts{"Torch.f.0.forward.input.0"}));
  EXPECT_EQ(dtype(model), "torch.float32");
  EXPECT_EQ(shape(model), "[2]");
  EXPECT_EQ(model.sizes[leaf.shape], (std::vector<std::int64_t>{2}));
  EXPECT_EQ(leaf.kind, LeafKind::kTensor);
  EXPECT_EQ(model.number(leaf, kMax).kind, NumberKind::kReal);
  EXPECT_EQ(model.number(leaf, kMax).real, 1.5);
  EXPECT_EQ(model.number(leaf, kMin).kind, NumberKind::kInteger);
  EXPECT_EQ(model.number(leaf, kMin).integer, -2);
  EXPECT_EQ(model.number(leaf, kMean).kind, NumberKind::kNull);
  EXPECT_EQ(model.number(leaf, kNorm).kind, NumberKind::kAbsent);
  EXPECT_EQ(model.task, "statistics");
}

TEST(DumpReader, NumbersBeyondFloat64AreInfinite) {
  const DumpModel model = of_op(R"({"input_args": [)" + kTensor + R"(], "output": [{"dtype": "torch.float32", "shape": [2],
      "Max": 1e999, "Min": -1e999, "Mean": 2, "Norm": 1e-999}]})");
  ASSERT_EQ(model.leaves.size(), 2U);
  EXPECT_EQ(model.number(model.leaves[0], kMin).integer, -2);
  EXPECT_EQ(model.number(model.leaves[1], kMax).real, std::numeric_limits<double>::infinity());
  EXPECT_EQ(model.number(model.leaves[1], kMin).real, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(model.number(model.leaves[1], kMean).integer, 2);
  EXPECT_EQ(model.number(model.leaves[1], kNorm).real, 0);
}

TEST(DumpReader, SectionsHaveTheirOrderAndNames) {
  const DumpModel model =
      of_op(R"({"output": [)" + kTensor + R"(], "parameters": {"w": )" + kTensor + R"(}, "input_kwargs": {"k": )" + kTensor +
            R"(}, "input_args": [[)" + kTensor + R"(], {"a": )" + kTensor + "}]}");
  EXPECT_EQ(names(model), (Texts{"Torch.f.0.forward.input.0.0", "Torch.f.0.forward.input.1.a", "Torch.f.0.forward.input.k",
                                 "Torch.f.0.forward.parameters.w", "Torch.f.0.forward.output.0"}));
  EXPECT_EQ(model.leaves[3].section, Section::kParameters);
  EXPECT_EQ(model.leaves[4].section, Section::kOutput);
}

TEST(DumpReader, BackwardAndParametersGrad) {
  EXPECT_EQ(names(of_op(R"({"input": [)" + kTensor + R"(], "output": )" + kTensor + "}", "Torch.f.0.backward")),
            (Texts{"Torch.f.0.backward.input.0", "Torch.f.0.backward.output"}));
  EXPECT_EQ(names(of_op(R"({"weight": [)" + kTensor + R"(], "bias": )" + kTensor + "}", "Module.l.Linear.parameters_grad")),
            (Texts{"Module.l.Linear.parameters_grad.weight", "Module.l.Linear.parameters_grad.bias"}));
}

TEST(DumpReader, UnusualNamesAreKept) {
  EXPECT_EQ(names(of_op(R"({"input_args": [)" + kTensor + "]}", "odd")), (Texts{"odd.input.0"}));
  EXPECT_EQ(names(of_op(R"({"x": [)" + kTensor + "]}", "odd")), (Texts{"odd.x.0"}));
}

TEST(DumpReader, EmptyValuesAndTextsAreNoRowsNullIsOne) {
  const DumpModel model = of_op(R"({"input_args": [null, [], {}, "", 0, 0.0, -0.0, false, "text", 3, true, 2.5]})");
  EXPECT_EQ(names(model), (Texts{"Torch.f.0.forward.input.0", "Torch.f.0.forward.input.9", "Torch.f.0.forward.input.10",
                                 "Torch.f.0.forward.input.11"}));
  EXPECT_EQ(dtype(model, 0), "N/A");
  EXPECT_EQ(shape(model, 0), "N/A");
  EXPECT_EQ(dtype(model, 1), "<class 'int'>");
  EXPECT_EQ(dtype(model, 2), "<class 'bool'>");
  EXPECT_EQ(dtype(model, 3), "<class 'float'>");
}

struct Value {
  const char* json;
  const char* dtype;
  const char* shape;
  NumberKind max;
  const char* text;  // of a kText
};

class Values : public ::testing::TestWithParam<Value> {};

TEST_P(Values, HaveTheTypesOfPython) {
  const DumpModel model = of_op(std::string(R"({"input_kwargs": {"x": )") + GetParam().json + "}}");
  ASSERT_EQ(model.leaves.size(), 1U);
  EXPECT_EQ(dtype(model), GetParam().dtype);
  EXPECT_EQ(shape(model), GetParam().shape);
  const Number number = model.number(model.leaves[0], kMax);
  EXPECT_EQ(number.kind, GetParam().max);
  EXPECT_EQ(number.text, GetParam().text);
  EXPECT_EQ(model.number(model.leaves[0], kNorm).kind, GetParam().max);
}

INSTANTIATE_TEST_SUITE_P(
    DumpReader, Values,
    ::testing::Values(
        Value{R"({"type": "torch.Size", "value": [2, 8]})", "torch.Size", "[2, 8]", NumberKind::kNull, ""},
        Value{R"({"type": "slice", "value": [0, null, 2]})", "slice", "(3,)", NumberKind::kNull, ""},
        Value{R"({"type": "ellipsis", "value": "..."})", "ellipsis", "[]", NumberKind::kText, "..."},
        Value{R"({"type": "torch.ProcessGroup", "group_ranks": [0, 1]})", "torch.ProcessGroup", "[]", NumberKind::kText,
              "[0, 1]"},
        Value{R"({"type": "int", "value": 7})", "<class 'int'>", "[]", NumberKind::kInteger, ""},
        Value{R"({"type": "float", "value": 7.0})", "<class 'float'>", "[]", NumberKind::kReal, ""},
        Value{R"({"type": "bool", "value": true})", "<class 'bool'>", "[]", NumberKind::kTrue, ""},
        Value{R"({"type": "str", "value": "=x"})", "<class 'str'>", "[]", NumberKind::kText, "=x"},
        Value{R"({"type": "NoneType", "value": null})", "<class 'NoneType'>", "[]", NumberKind::kNull, ""},
        Value{R"({"type": "list", "value": [1, "a", null, 1.0]})", "<class 'list'>", "[]", NumberKind::kText,
              "[1, 'a', None, 1.0]"},
        Value{R"({"type": "dict", "value": {"k": [true]}})", "<class 'dict'>", "[]", NumberKind::kText, "{'k': [True]}"},
        Value{R"({"type": "int", "value": 18446744073709551615})", "<class 'int'>", "[]", NumberKind::kUnsigned, ""}));

TEST(DumpReader, RanksOfCollectivesAreTexts) {
  const DumpModel model = of_op(R"({"input_kwargs": {"dst": {"type": "int", "value": 3}}})");
  EXPECT_EQ(dtype(model), "int");
  EXPECT_EQ(model.number(model.leaves[0], kMin).text, "3");
}

TEST(DumpReader, ATensorWithoutDtypeOrTypeKeepsItsNumbers) {
  DumpModel model =
      of_op(R"({"output": [{"type": "torch.Tensor", "shape": [2], "Max": 1, "Min": 0, "Mean": 0.5, "Norm": 1.0}]})");
  EXPECT_EQ(dtype(model), "N/A");
  EXPECT_EQ(model.number(model.leaves[0], kMax).integer, 1);
  model = of_op(R"({"output": [{"dtype": "torch.int8", "shape": [2], "Max": 1, "Min": 0}]})");
  EXPECT_EQ(names(model), (Texts{"Torch.f.0.forward.output.0"}));
  EXPECT_EQ(dtype(model), "torch.int8");
}

TEST(DumpReader, P2POpsAreTheirTensors) {
  const DumpModel model =
      of_op(R"({"input_args": [[{"type": "torch.distributed.P2POp", "op": "isend", "peer": 3, "tensor": )" + kTensor + "}]]}");
  EXPECT_EQ(names(model), (Texts{"Torch.f.0.forward.input.0.0"}));
  EXPECT_EQ(model.text(model.extra(model.leaves[0]).p2p_op), "isend");
  EXPECT_EQ(model.text(model.extra(model.leaves[0]).p2p_peer), "3");
}

TEST(DumpReader, OurKeys) {
  const DumpModel model = of_op(
      R"({"output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": null, "Min": null, "Mean": null, "Norm": 3.0,
        "Special": {"Max": "pos_inf", "Min": "neg_inf", "Mean": "nan", "Norm": "nan"},
        "Counts": {"nan": 1, "pos_inf": 2, "neg_inf": 3, "zero": 4}, "Note": "why"}], "Order": {"first": 7, "last": 9}})");
  const Leaf& leaf = model.leaves[0];
  EXPECT_EQ(model.number(leaf, kMax).real, INFINITY);
  EXPECT_EQ(model.number(leaf, kMin).real, -INFINITY);
  EXPECT_TRUE(std::isnan(model.number(leaf, kMean).real));
  EXPECT_EQ(model.number(leaf, kNorm).real, 3.0);  // a number stays
  ASSERT_NE(model.counts_of(leaf), nullptr);
  EXPECT_EQ(model.counts_of(leaf)->neg_inf, 3);
  EXPECT_EQ(model.text(model.extra(leaf).note), "why");
  EXPECT_EQ(model.ops[0].order_first, 7);
  EXPECT_EQ(model.ops[0].order_last, 9);
}

TEST(DumpReader, NumbersThatAreNotFiniteOrLarge) {
  const DumpModel model = of_op(
      R"({"output": [{"dtype": "torch.float32", "shape": [1], "Max": Infinity, "Min": -Infinity, "Mean": NaN, "Norm": 1e300}]})");
  const Leaf& leaf = model.leaves[0];
  EXPECT_EQ(model.number(leaf, kMax).real, INFINITY);
  EXPECT_EQ(model.number(leaf, kMin).real, -INFINITY);
  EXPECT_TRUE(std::isnan(model.number(leaf, kMean).real));
  EXPECT_EQ(model.number(leaf, kNorm).real, 1e300);
  const DumpModel large =
      of_op(R"({"output": [{"dtype": "torch.int64", "shape": [1], "Max": 123456789012345678901234567890, "Min": 1e-999}]})");
  EXPECT_EQ(large.number(large.leaves[0], kMax).real, 123456789012345678901234567890.0);
  EXPECT_EQ(large.number(large.leaves[0], kMin).real, 0.0);
}

TEST(DumpReader, OfRepeatedKeysTheLastCounts) {
  DumpModel model = of_op(R"({"output": [{"dtype": "a", "dtype": "torch.int8", "shape": [1], "Max": 1, "Max": 2}]})");
  EXPECT_EQ(dtype(model), "torch.int8");
  EXPECT_EQ(model.number(model.leaves[0], kMax).integer, 2);
  model = of_op(R"({"output": [], "output": {"a": )" + kTensor + R"(, "b": )" + kTensor + R"(, "a": {"c": )" + kTensor + "}}}");
  EXPECT_EQ(names(model), (Texts{"Torch.f.0.forward.output.a.c", "Torch.f.0.forward.output.b"}));
  model = of_data(R"({"A.0.forward": {"output": []}, "B.0.forward": {"output": [)" + kTensor +
                  R"(]}, "A.0.forward": {"output": [)" + kTensor + "," + kTensor + "]}}");
  EXPECT_EQ(names(model), (Texts{"A.0.forward.output.0", "A.0.forward.output.1", "B.0.forward.output.0"}));
  EXPECT_EQ(model.leaves[2].op, 1U);
  model = parse_dump(R"({"data": {"A.0.forward": {"output": [)" + kTensor + R"(]}}, "data": {}})", "dump.json");
  EXPECT_TRUE(model.ops.empty());
}

TEST(DumpReader, BrokenOpsAndLeavesSaySo) {
  EXPECT_EQ(problem(of_op("7")), "it is 7, not a mapping of sections");
  EXPECT_EQ(problem(of_op("null")), "it is None, not a mapping of sections");
  EXPECT_EQ(problem(of_op(R"({"output": [{"dtype": "torch.int8", "shape": "x", "Max": 1}]})")), "shape is not a list");
  EXPECT_EQ(problem(of_op(R"({"output": [{"dtype": "torch.int8", "shape": [1], "Max": [1]}]})")), "Max is not a number");
  EXPECT_EQ(problem(of_op(R"({"output": [{"dtype": "torch.int8", "shape": [1], "requires_grad": 1}]})")),
            "requires_grad is neither true nor false");
  const std::string deep = std::string(500, '[') + std::string(500, ']');
  const DumpModel model =
      of_data(R"({"A.0.forward": {"input_args": )" + deep + R"(}, "B.0.forward": {"output": [)" + kTensor + "]}}");
  ASSERT_EQ(model.leaves.size(), 2U);
  EXPECT_EQ(problem(model), "it is nested deeper than 400 levels");
  EXPECT_EQ(problem(model, 1), "");
}

TEST(DumpReader, LongNamesDoNotMultiply) {
  const std::string key(5000, 'k');
  const DumpModel model = of_data(R"({"A.0.forward": {"output": {")" + key + "\": [" + kTensor + "," + kTensor + R"(]}}, ")" +
                                  key + R"(.0.forward": {"output": [)" + kTensor + "]}}");
  ASSERT_EQ(model.leaves.size(), 2U);
  EXPECT_EQ(problem(model, 0), "a name in it has more than 4,096 characters");
  EXPECT_EQ(problem(model, 1), "a name in it has more than 4,096 characters");
  EXPECT_LE(names(model)[0].size(), 500U);
  EXPECT_EQ(names(model)[1].size(), 4096U);
}

std::string error_of(const std::string& text) {
  try {
    parse_dump(text, "dump.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(DumpReader, FilesThatAreNoDumpsAreErrors) {
  EXPECT_EQ(error_of("[]"), "'dump.json' is no dump: it must be a JSON object with the key 'data'.");
  EXPECT_EQ(error_of("3"), "'dump.json' is no dump: it must be a JSON object with the key 'data'.");
  EXPECT_EQ(error_of(R"({"task": "x"})"),
            "'dump.json' is no dump: it has no key 'data'. Give the dump.json that the dumper wrote.");
  EXPECT_EQ(error_of(R"({"data": []})"), "'dump.json' is no dump: its 'data' must be an object with an entry for each call.");
  EXPECT_EQ(error_of(R"({"data": null})"), "'dump.json' is no dump: its 'data' must be an object with an entry for each call.");
}

}  // namespace
}  // namespace msprobe::read

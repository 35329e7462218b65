// SPDX-License-Identifier: Apache-2.0
// Whole comparisons: names of files, folders, failures, JSON of -da, stacks, threads.
#include "compare/run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/dumps_of_text.h"
#include "compare/files_of_text.h"

namespace msprobe::compare {
namespace {

using Texts = std::vector<std::string>;
using Json = nlohmann::ordered_json;

std::string one_op(const std::string& norm = "4.0") {
  return dump_text(entry("Torch.mm.0.forward", {TensorText().json()}, {norm_of(norm).json()}));
}

TEST_F(RunFixture, TwoFiles) {
  write("t/dump.json", one_op());
  write("g/any.json", one_op("1.0"));
  const Summary summary = run(options("t/dump.json", "g/any.json"));
  EXPECT_EQ(names(summary.files), (Texts{"out/compare_result_20260102030405.csv"}));
  EXPECT_EQ(summary.counts, (ResultCounts{1, 0, 1, 0}));
  ASSERT_EQ(summary.worst.size(), 1U);
  EXPECT_EQ(summary.worst[0].target_name, "Torch.mm.0.forward.output.0");
  EXPECT_EQ(summary.worst[0].row, 1U);
  EXPECT_EQ(summary.worst[0].relative_error, 3);
  ASSERT_EQ(summary.pairs.size(), 1U);
  EXPECT_EQ(summary.pairs[0].largest_relative_error, 3);
  EXPECT_EQ(summary.pairs[0].largest_relative_error_at, "Torch.mm.0.forward.output.0");
  EXPECT_TRUE(summary.pairs[0].divergence.has_value());
}

// What a table is told of rows besides its cells.
class Distances : public WholeWriter {
 public:
  struct Row {
    DistanceKind kind;
    double value;
    std::int64_t moment;
  };
  explicit Distances(std::vector<Row>& rows) : rows_(rows) {}

  std::unique_ptr<TableWriter> table(const TableInfo& /*info*/) override { return std::make_unique<Table>(rows_); }
  std::string finish(const Summary& /*summary*/) override { return "distances"; }

 private:
  class Table : public TableWriter {
   public:
    explicit Table(std::vector<Row>& rows) : rows_(rows) {}
    [[nodiscard]] std::unique_ptr<EncodedBlock> encode(const RowBlock& block) const override {
      for (std::size_t row = 0; row < block.size(); ++row) {
        const Distance distance = block.distance(row);
        rows_.push_back({distance.kind, distance.value, block.moment(row)});
      }
      return std::make_unique<EncodedBlock>();
    }
    void append(std::unique_ptr<EncodedBlock> /*block*/) override {}
    std::string finish() override { return {}; }

   private:
    std::vector<Row>& rows_;
  };
  std::vector<Row>& rows_;
};

TEST_F(RunFixture, DistancesOfRowsAreThoseOfWhereItStarts) {
  const std::string order = R"(, "Order": {"first": 4, "last": 7})";
  const auto dump = [&](const std::string& norm, const std::string& maximum, const std::string& shape,
                        const std::string& whole) {
    const std::string tensor =
        R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": 1.0, "Min": -1.0, "Mean": 0.5, "Norm": )";
    return R"({"task": "statistics", "data": {"Module.a.Linear.forward.0": {"input_args": [)" + tensor + "2.0}, " +
           R"({"type": "torch.Tensor", "dtype": "torch.int64", "shape": [4], "Max": )" + whole +
           R"(, "Min": 0, "Mean": 1.0, "Norm": 2.0}, {"type": "int", "value": 3}], "output": [)" + tensor + norm + "}, " +
           R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": )" + shape +
           R"(, "Max": 1.0, "Min": -1.0, "Mean": 0.5, "Norm": 2.0}, )" +
           R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": )" + maximum +
           R"(, "Min": -1.0, "Mean": 0.5, "Norm": 2.0}]})" + "}}";
  };
  const auto with_order = [&](std::string text) { return text.insert(text.size() - 3, order); };
  write("t/dump.json", with_order(dump("3.0", "NaN", "[2, 2]", "9")));
  write("g/dump.json", dump("2.0", "1.0", "[4]", "1"));
  std::vector<Distances::Row> rows;
  Options chosen = options("t", "g");
  chosen.formats.clear();
  chosen.whole_formats.push_back({".html", [&](const std::string&) { return std::make_unique<Distances>(rows); }});
  run(chosen);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].kind, DistanceKind::kNumber);
  EXPECT_EQ(rows[0].value, 0);
  EXPECT_EQ(rows[1].kind, DistanceKind::kDiffers);
  EXPECT_EQ(rows[2].kind, DistanceKind::kNone) << "a number is no tensor";
  EXPECT_EQ(rows[3].kind, DistanceKind::kNumber);
  // |3 - 2| / 2 * min(sqrt(4), 64, 4 * 2 / 1) / 6, less 2^-20 for sums in float32
  EXPECT_NEAR(rows[3].value, 0.5 * 2 / 6, 1e-6);
  EXPECT_EQ(rows[4].kind, DistanceKind::kHard) << "another shape";
  EXPECT_EQ(rows[5].kind, DistanceKind::kHard) << "NaN on one side";
  EXPECT_EQ(rows[0].moment, 4);
  EXPECT_EQ(rows[5].moment, 7);
}

TEST_F(RunFixture, NothingIsOverwritten) {
  write("t/dump.json", one_op());
  run(options("t", "t"));
  EXPECT_EQ(names(run(options("t", "t")).files), (Texts{"out/compare_result_20260102030405_1.csv"}));
  EXPECT_EQ(content(at("out/compare_result_20260102030405.csv")), content(at("out/compare_result_20260102030405_1.csv")));
}

TEST_F(RunFixture, RanksAndSteps) {
  for (const char* side : {"t", "g"}) {
    for (const char* step : {"step0", "step1"}) {
      for (const char* rank : {"rank0", "rank1"}) {
        const bool off = std::string(side) == "t" && std::string(step) == "step1" && std::string(rank) == "rank1";
        write(std::string(side) + "/" + step + "/" + rank + "/dump.json", one_op(off ? "40.0" : "4.0"));
      }
    }
  }
  const Summary summary = run(options("t", "g"));
  EXPECT_EQ(names(summary.files),
            (Texts{"out/compare_result_step0_rank0_20260102030405.csv", "out/compare_result_step0_rank1_20260102030405.csv",
                   "out/compare_result_step1_rank0_20260102030405.csv", "out/compare_result_step1_rank1_20260102030405.csv"}));
  EXPECT_EQ(summary.counts[static_cast<std::size_t>(Result::kError)], 1U);
  EXPECT_EQ(summary.worst[0].step, 1);
  EXPECT_EQ(summary.worst[0].label, "rank1");
  ASSERT_EQ(summary.steps.size(), 2U);
  EXPECT_EQ(summary.steps[0].largest_relative_error, 0);
  EXPECT_EQ(summary.steps[1].largest_relative_error, 9);
  EXPECT_EQ(summary.first_diverging_step, 1);
  EXPECT_EQ(names(run(options("t/step0", "g/step0")).files),
            (Texts{"out/compare_result_rank0_20260102030405.csv", "out/compare_result_rank1_20260102030405.csv"}));
}

TEST_F(RunFixture, FilesOfAllPairsAreNamedBeforeTheTables) {
  write("t/dump.json", one_op());
  std::vector<Distances::Row> rows;
  Options with_page = options("t", "t");
  with_page.whole_formats.push_back({".html", [&](const std::string&) { return std::make_unique<Distances>(rows); }});
  with_page.diff_analyze = true;
  const std::vector<std::string> written = run(with_page).files;
  ASSERT_EQ(written.size(), 4U);
  EXPECT_EQ(written[0], "distances");
  EXPECT_TRUE(written[1].ends_with(".csv"));
}

TEST_F(RunFixture, APairThatCannotBeReadStopsNoOther) {
  write("t/rank0/dump.json", "{");
  write("t/rank1/dump.json", one_op());
  write("g/rank0/dump.json", one_op());
  write("g/rank1/dump.json", one_op());
  const Summary summary = run(options("t", "g"));
  ASSERT_EQ(summary.pairs.size(), 2U);
  EXPECT_NE(summary.pairs[0].error.find("ends in the middle"), std::string::npos);
  EXPECT_EQ(summary.pairs[1].error, "");
  EXPECT_EQ(summary.files.size(), 1U);
  EXPECT_THROW(run(options("t/rank0", "g/rank0")), Error);
}

TEST_F(RunFixture, TasksMustBeEqualAndKnown) {
  write("s.json", one_op());
  write("t.json", dump_text("", "tensor"));
  write("x.json", dump_text("", "structure"));
  EXPECT_THROW(run(options("s.json", "t.json")), Error);
  EXPECT_THROW(run(options("x.json", "x.json")), Error);
}

TEST_F(RunFixture, ChecksumsOnOneSideAreAnError) {
  TensorText tensor;
  tensor.more = R"(, "md5": "a")";
  write("t.json", dump_text(entry("Torch.mm.0.forward", {}, {tensor.json()})));
  write("g.json", one_op());
  EXPECT_THROW(run(options("t.json", "g.json")), Error);
}

TEST_F(RunFixture, EmptyDumpsAreAWarningWithoutAFile) {
  write("t.json", dump_text(""));
  write("g.json", one_op());
  const Summary summary = run(options("t.json", "g.json"));
  EXPECT_TRUE(summary.files.empty());
  ASSERT_EQ(summary.pairs[0].warnings.size(), 1U);
}

TEST_F(RunFixture, NothingMatchedIsTold) {
  write("t.json", one_op());
  write("g.json", dump_text(entry("Torch.other.0.forward", {}, {TensorText().json()})));
  const Summary summary = run(options("t.json", "g.json"));
  EXPECT_EQ(summary.counts, (ResultCounts{0, 0, 0, 3}));
  ASSERT_EQ(summary.pairs[0].warnings.size(), 1U);
  EXPECT_NE(summary.pairs[0].warnings[0].find("no row of target has a partner"), std::string::npos);
}

TEST_F(RunFixture, StacksStandOnTheFirstRowOfAnOp) {
  write("t/dump.json", one_op());
  write("g/dump.json", one_op());
  write("t/stack.json", R"({"Torch.mm.0.forward": ["File a.py, line 3, in f"]})");
  const Summary summary = run(options("t", "g"));
  const std::string text = content(summary.files[0]);
  EXPECT_NE(text.find("Result,Err_message,NPU_Stack_Info\n"), std::string::npos);
  EXPECT_NE(text.find(",pass,[],\"['File a.py, line 3, in f']\"\n"), std::string::npos);
  EXPECT_NE(text.find(",pass,[],N/A\n"), std::string::npos);
}

TEST_F(RunFixture, OutputThatCannotBeWrittenIsAnError) {
  write("t.json", one_op());
  write("out", "a file where the folder should be");
  EXPECT_THROW(run(options("t.json", "t.json")), FileError);
}

TEST_F(RunFixture, JsonOfDifferences) {
  write("t/rank0/dump.json", one_op("40.0"));
  write("g/rank0/dump.json", one_op("4.0"));
  Options with_json = options("t", "g");
  with_json.diff_analyze = true;
  const Summary summary = run(with_json);
  EXPECT_EQ(names(summary.files),
            (Texts{"out/compare_result_rank0_20260102030405.csv", "out/compare_result_rank0_20260102030405.json",
                   "out/diff_analyze_20260102030405.json"}));
  const Json rows = Json::parse(content(summary.files[1]));
  const Json& op = rows["Torch.mm.0.forward"];
  EXPECT_EQ(op["is_same"], false);
  ASSERT_EQ(op["op_items"].size(), 2U);
  EXPECT_EQ(op["op_items"][1]["NPU l2norm"], 40.0);
  EXPECT_EQ(op["op_items"][1]["NormRelativeErr"], "900.0%");
  EXPECT_EQ(op["op_items"][1]["state"], "output");
  EXPECT_EQ(op["op_items"][1]["api_origin_name"], "Torch.mm.0.forward");
  const Json analysis = Json::parse(content(summary.files[2]));
  EXPECT_EQ(analysis["rank_0"][0]["op_name"], "Torch.mm.0.forward");
  EXPECT_EQ(analysis["rank_0"][0]["data_info"]["output"]["Torch.mm.0.forward.output.0"]["NPU l2norm"], 40.0);
  EXPECT_TRUE(analysis["rank_0"][0].contains("divergence"));
}

TEST_F(RunFixture, JsonOfDifferencesIsValidWhateverIsInTheDumps) {
  TensorText bad;
  bad.max = "NaN";
  bad.min = "-Infinity";
  bad.mean = "null";
  bad.norm = "\"=a\\\"b\"";
  write("t.json", dump_text(entry("Torch.a\\\"b\\n.0.forward", {}, {bad.json()})));
  write("g.json", dump_text(entry("Torch.a\\\"b\\n.0.forward", {}, {TensorText().json()}) + ", " +
                            entry("Torch.c.0.forward", {}, {"null"})));
  Options with_json = options("t.json", "g.json");
  with_json.diff_analyze = true;
  const Summary summary = run(with_json);
  ASSERT_EQ(summary.files.size(), 3U);
  const Json rows = Json::parse(content(summary.files[1]));
  EXPECT_EQ(rows["Torch.a\"b\n.0.forward"]["is_same"], false);
  EXPECT_EQ(rows["Torch.a\"b\n.0.forward"]["op_items"][0]["NPU max"], "Nan");
  EXPECT_EQ(Json::parse(content(summary.files[2]))["rank"][0]["op_name"], "Torch.a\"b\n.0.forward");
}

TEST_F(RunFixture, WhereNothingIsFoundTheJsonSaysSo) {
  write("t.json", one_op());
  Options with_json = options("t.json", "t.json");
  with_json.diff_analyze = true;
  const Summary summary = run(with_json);
  EXPECT_EQ(names(summary.files), (Texts{"out/compare_result_20260102030405.csv", "out/compare_result_20260102030405.json",
                                         "out/diff_analyze_20260102030405.json"}));
  const Json found = Json::parse(content(summary.files[2]))["rank"];
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0]["op_name"].is_null());
  EXPECT_EQ(found[0]["data_info"], Json::parse(R"({"input": {}, "output": {}})"));
  EXPECT_EQ(found[0]["divergence"]["result"], "none");
  EXPECT_TRUE(found[0]["divergence"]["first"].is_null());
  const std::string sentence = found[0]["divergence"]["sentence"];
  EXPECT_TRUE(sentence.starts_with("No jump above 8 x noise")) << sentence;
  EXPECT_EQ(content(summary.files[2]).find("equal\""), std::string::npos);
}

TEST_F(RunFixture, TheJsonOfChecksumsHasASentence) {
  TensorText tensor;
  tensor.more = R"(, "md5": "a")";
  write("t.json", dump_text(entry("Torch.mm.0.forward", {}, {tensor.json()})));
  tensor.more = R"(, "md5": "b")";
  write("g.json", dump_text(entry("Torch.mm.0.forward", {}, {tensor.json()})));
  Options with_json = options("t.json", "t.json");
  with_json.diff_analyze = true;
  Json found = Json::parse(content(run(with_json).files.back()))["rank"][0];
  EXPECT_TRUE(found["op_name"].is_null());
  EXPECT_EQ(found["divergence"], Json::parse(R"({"result": "not judged", "sentence": "No checksum of an output differs."})"));
  with_json.golden = at("g.json");
  found = Json::parse(content(run(with_json).files.back()))["rank"][0];
  EXPECT_EQ(found["op_name"], "Torch.mm.0.forward");
  EXPECT_EQ(found["data_info"]["output"]["Torch.mm.0.forward.output.0"]["NPU MD5"], "a");
  const std::string sentence = found["divergence"]["sentence"];
  EXPECT_TRUE(sentence.starts_with("The first call with an output whose checksum differs is Torch.mm.0.forward.")) << sentence;
}

TEST_F(RunFixture, TheJsonTellsOfPairsThatWereNotCompared) {
  write("t/rank0/dump.json", "{");
  write("t/rank1/dump.json", dump_text(""));
  write("t/rank2/dump.json", one_op());
  for (const char* rank : {"g/rank0/dump.json", "g/rank1/dump.json", "g/rank2/dump.json"}) {
    write(rank, one_op());
  }
  Options with_json = options("t", "g");
  with_json.diff_analyze = true;
  const Json analysis = Json::parse(content(run(with_json).files.back()));
  const auto sentence = [&](const char* rank) { return std::string(analysis[rank][0]["divergence"]["sentence"]); };
  EXPECT_NE(sentence("rank_0").find("ends in the middle"), std::string::npos);
  EXPECT_NE(sentence("rank_1").find("holds no entries"), std::string::npos);
  EXPECT_EQ(analysis["rank_1"][0]["divergence"]["result"], "not judged");
  EXPECT_EQ(analysis["rank_2"][0]["divergence"]["result"], "none");
}

TEST_F(RunFixture, TensorModeTellsOfMissingFiles) {
  TensorText tensor;
  tensor.more = R"(, "data_name": "Torch.mm.0.forward.output.0.pt")";
  write("t/dump.json", dump_text(entry("Torch.mm.0.forward", {}, {tensor.json()}), "tensor"));
  write("g/dump.json", dump_text(entry("Torch.mm.0.forward", {}, {tensor.json()}), "tensor"));
  const Summary summary = run(options("t", "g"));
  EXPECT_EQ(summary.counts[static_cast<std::size_t>(Result::kError)], 1U);
  const std::string text = content(summary.files[0]);
  EXPECT_NE(text.find(",unsupported,unsupported,unsupported,unsupported,unsupported,unsupported,"), std::string::npos);
  EXPECT_NE(text.find("error: The saved tensors were not compared: "), std::string::npos);
  EXPECT_NE(text.find("\"['Torch.mm.0.forward.output.0.pt', 'Torch.mm.0.forward.output.0.pt']\""), std::string::npos);
}

class Told : public Progress {
 public:
  void update(double share, std::string_view /*what*/) override {
    EXPECT_GE(share, last);
    last = share;
  }
  double last = 0;
};

TEST_F(RunFixture, ProgressEndsAtOne) {
  write("t.json", one_op());
  Told told;
  run(options("t.json", "t.json"), &told);
  EXPECT_NEAR(told.last, 1, 1e-9);
}

}  // namespace
}  // namespace msprobe::compare

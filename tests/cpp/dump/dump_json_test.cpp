// SPDX-License-Identifier: Apache-2.0
// dump.json as a whole: calls, nesting, order, numbers, failures; read by a parser that is not ours.
#include "dump/dump_json.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/run.h"

namespace msprobe::dump {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

stats::Extreme real(double value) {
  stats::Extreme extreme;
  extreme.kind = stats::Extreme::Kind::kReal;
  extreme.real = value;
  return extreme;
}

class DumpJsonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "msprobe_dump_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  log::Record& add(const std::string& tag, double value = 1) {
    log::Record record;
    record.tag = session_.tags.intern(tag);
    record.call = session_.lanes.next(session_.tags[record.tag]).call;
    record.shape = session_.shapes.intern(std::vector<std::int64_t>{2, 8});
    record.dtype = DType::kFloat32;
    record.stats.count = 16;
    record.stats.max = real(value);
    record.stats.min = real(-value);
    record.stats.mean = value / 2;
    record.stats.norm = value * 4;
    records_.push_back(record);
    return records_.back();
  }

  Json dump() {
    const fs::path folder = folder_ / "step0" / "rank0";
    entries_ = write_dump_json({"mix", folder.string(), tensors_, run_}, records_, parameters_, session_);
    std::ifstream in(folder / "dump.json");
    return Json::parse(in);
  }

  static std::vector<std::string> names(const Json& data) {
    std::vector<std::string> all;
    for (const auto& item : data.items()) {
      all.push_back(item.key());
    }
    return all;
  }

  fs::path folder_;
  log::Session session_;
  std::vector<log::Record> records_;
  Parameters parameters_;
  std::string run_;
  FileNames* tensors_ = nullptr;
  std::int64_t entries_ = 0;
};

TEST_F(DumpJsonTest, HeaderAndOneEntry) {
  add("m|Module.0.Linear|args|#0|^");
  add("m|Module.0.Linear|out|#0|$", 2);
  const Json json = dump();
  EXPECT_EQ(entries_, 1);
  EXPECT_EQ(json, Json::parse(R"({"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": null, "data": {
    "Module.0.Linear.forward.0": {
      "input_args": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 8], "Max": 1.0, "Min": -1.0, "Mean": 0.5, "Norm": 4.0}],
      "input_kwargs": {},
      "output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 8], "Max": 2.0, "Min": -2.0, "Mean": 1.0, "Norm": 8.0}],
      "Order": {"first": 0, "last": 1}}}})"));
}

TEST_F(DumpJsonTest, NothingRecorded) {
  const Json json = dump();
  EXPECT_EQ(entries_, 0);
  EXPECT_EQ(json["data"], Json::object());
}

TEST_F(DumpJsonTest, AParentStandsBeforeItsChildren) {
  add("m|Module.__root__.M|args|#0|^");
  add("m|Module.a.A|args|#0|^");
  add("m|Module.a.A|out|#0|$");
  add("m|Module.__root__.M|out|#0|$");
  const Json data = dump()["data"];
  EXPECT_EQ(names(data), (std::vector<std::string>{"Module.__root__.M.forward.0", "Module.a.A.forward.0"}));
  EXPECT_EQ(data["Module.__root__.M.forward.0"]["Order"], Json::parse(R"({"first": 0, "last": 3})"));
  EXPECT_EQ(data["Module.a.A.forward.0"]["Order"], Json::parse(R"({"first": 1, "last": 2})"));
}

TEST_F(DumpJsonTest, CallsOfOneNameCountUp) {
  for (int call = 0; call < 3; ++call) {
    add("m|Module.0.Linear|args|#0|^", call + 1);
    add("a|Aten.addmm|args|#0|^");
    add("a|Aten.addmm|out|#0|$");
    add("m|Module.0.Linear|out|#0|$");
  }
  const Json data = dump()["data"];
  EXPECT_EQ(names(data),
            (std::vector<std::string>{"Module.0.Linear.forward.0", "Aten.addmm.0.forward", "Module.0.Linear.forward.1",
                                      "Aten.addmm.1.forward", "Module.0.Linear.forward.2", "Aten.addmm.2.forward"}));
  EXPECT_EQ(data["Module.0.Linear.forward.2"]["input_args"][0]["Max"], 3.0);
}

TEST_F(DumpJsonTest, AModuleThatCallsItselfKeepsItsCallsApart) {
  add("m|Module.r.R|args|#0|^", 1);
  add("m|Module.r.R|args|#0|^", 2);
  add("m|Module.r.R|out|#0|$", 3);
  add("m|Module.r.R|out|#0|$", 4);
  const Json data = dump()["data"];
  EXPECT_EQ(data["Module.r.R.forward.0"]["input_args"][0]["Max"], 1.0);
  EXPECT_EQ(data["Module.r.R.forward.0"]["output"][0]["Max"], 4.0);
  EXPECT_EQ(data["Module.r.R.forward.1"]["input_args"][0]["Max"], 2.0);
  EXPECT_EQ(data["Module.r.R.forward.1"]["output"][0]["Max"], 3.0);
}

TEST_F(DumpJsonTest, ACallWithoutResultsDoesNotSwallowTheNext) {
  add("m|Module.a.A|args|#0|^", 1);
  add("m|Module.a.A|args|#0|^", 2);
  add("m|Module.a.A|out|#0|$", 3);
  const Json data = dump()["data"];
  EXPECT_EQ(data["Module.a.A.forward.0"]["output"], Json::array());
  EXPECT_EQ(data["Module.a.A.forward.1"]["output"][0]["Max"], 3.0);
}

TEST_F(DumpJsonTest, ACallWhoseOpeningTensorDidNotRunIsStillACall) {
  add("m|Module.a.A|args|#1|", 1);
  add("m|Module.a.A|out|#0|$", 2);
  add("m|Module.a.A|out|#0|$", 3);
  const Json data = dump()["data"];
  EXPECT_EQ(data["Module.a.A.forward.0"]["input_args"].size(), 1U);
  EXPECT_EQ(data["Module.a.A.forward.1"]["output"][0]["Max"], 3.0);
}

TEST_F(DumpJsonTest, NestedArgumentsKeepTheirStructure) {
  add("m|Module.a.A|args|#0/#0|^", 1);
  add("m|Module.a.A|args|#0/#2|", 2);  // #1 held no tensor
  add("m|Module.a.A|args|#2/.k/#0|", 3);
  add("m|Module.a.A|args|#2/.j|", 4);
  add("m|Module.a.A|kwargs|.mask|", 5);
  add("m|Module.a.A|kwargs|.cache/#0/#1|", 6);
  add("m|Module.a.A|out|.logits|", 7);
  add("m|Module.a.A|out|.hidden/#0|$", 8);
  const Json entry = dump()["data"]["Module.a.A.forward.0"];
  EXPECT_EQ(entry["input_args"].size(), 2U);
  EXPECT_EQ(entry["input_args"][0][0]["Max"], 1.0);
  EXPECT_EQ(entry["input_args"][0][1]["Max"], 2.0);
  EXPECT_EQ(entry["input_args"][1]["k"][0]["Max"], 3.0);
  EXPECT_EQ(entry["input_args"][1]["j"]["Max"], 4.0);
  EXPECT_EQ(entry["input_kwargs"]["mask"]["Max"], 5.0);
  EXPECT_EQ(entry["input_kwargs"]["cache"][0][0]["Max"], 6.0);
  EXPECT_EQ(entry["output"]["logits"]["Max"], 7.0);
  EXPECT_EQ(entry["output"]["hidden"][0]["Max"], 8.0);
}

TEST_F(DumpJsonTest, WhatIsNotFiniteIsNullAndToldBeside) {
  log::Record& record = add("m|Module.a.A|out|#0|^$");
  record.stats.max = real(kNan);
  record.stats.min = real(-kInf);
  record.stats.mean = kInf;
  record.stats.norm = 2;
  record.has_counts = true;
  record.stats.nan = 3;
  record.stats.neg_inf = 1;
  record.stats.zero = 12;
  const Json leaf = dump()["data"]["Module.a.A.forward.0"]["output"][0];
  EXPECT_TRUE(leaf["Max"].is_null() && leaf["Min"].is_null() && leaf["Mean"].is_null());
  EXPECT_EQ(leaf["Norm"], 2.0);
  EXPECT_EQ(leaf["Special"], Json::parse(R"({"Max": "nan", "Min": "neg_inf", "Mean": "pos_inf"})"));
  EXPECT_EQ(leaf["Counts"], Json::parse(R"({"nan": 3, "pos_inf": 0, "neg_inf": 1, "zero": 12})"));
}

TEST_F(DumpJsonTest, AnEmptyTensorHasNoNumbers) {
  log::Record& record = add("m|Module.a.A|out|#0|^$");
  record.stats = {};
  record.shape = session_.shapes.intern(std::vector<std::int64_t>{0, 3});
  const Json leaf = dump()["data"]["Module.a.A.forward.0"]["output"][0];
  EXPECT_EQ(leaf, Json::parse(R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [0, 3],
                                  "Max": null, "Min": null, "Mean": null, "Norm": null})"));
}

TEST_F(DumpJsonTest, LargeIntegersAreExact) {
  log::Record& record = add("m|Module.a.A|out|#0|^$");
  record.dtype = DType::kInt64;
  record.stats.max.kind = record.stats.min.kind = stats::Extreme::Kind::kSigned;
  record.stats.max.signed_int = std::numeric_limits<std::int64_t>::max();
  record.stats.min.signed_int = std::numeric_limits<std::int64_t>::min();
  const Json leaf = dump()["data"]["Module.a.A.forward.0"]["output"][0];
  EXPECT_EQ(leaf["dtype"], "torch.int64");
  EXPECT_EQ(leaf["Max"].get<std::int64_t>(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(leaf["Min"].get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
}

TEST_F(DumpJsonTest, HostileNamesStayText) {
  add("m|Module.a\"}%7C\n<script>.A|kwargs|.k\\\"%2F|^$");
  const Json data = dump()["data"];
  EXPECT_EQ(names(data).front(), "Module.a\"}|\n<script>.A.forward.0");
  EXPECT_EQ(names(data.front()["input_kwargs"]).front(), "k\\\"/");
}

TEST_F(DumpJsonTest, ParametersStandInTheirModulesFirstEntryOnce) {
  add("m|Module.a.A|params|.weight|", 3);
  add("m|Module.b.B|params|.bias|", 4);
  add("m|Module.a.A|params|.weight|", 5);  // taken again before the step ended: the older one is out of date
  parameters_.take_from(records_, session_.tags);
  EXPECT_TRUE(records_.empty());
  add("m|Module.a.A|out|#0|^$");
  add("m|Module.a.A|out|#0|^$");
  const Json first = dump()["data"];
  EXPECT_EQ(first["Module.a.A.forward.0"]["parameters"]["weight"]["Max"], 5.0);
  EXPECT_FALSE(first["Module.a.A.forward.1"].contains("parameters"));
  EXPECT_EQ(first["Module.a.A.forward.0"]["Order"]["first"], 0);
  add("m|Module.b.B|out|#0|^$");
  const Json second = dump()["data"];
  EXPECT_FALSE(second["Module.a.A.forward.0"].contains("parameters"));
  EXPECT_EQ(second["Module.b.B.forward.0"]["parameters"]["bias"]["Max"], 4.0);
}

TEST_F(DumpJsonTest, ParametersWaitForAWriteThatSucceeds) {
  add("m|Module.a.A|params|.weight|");
  parameters_.take_from(records_, session_.tags);
  add("m|Module.a.A|out|#0|^$");
  fs::create_directories(folder_ / "dump.json");
  EXPECT_THROW(write_dump_json({"L0", folder_.string(), nullptr, {}}, records_, parameters_, session_), FileError);
  EXPECT_TRUE(dump()["data"]["Module.a.A.forward.0"].contains("parameters"));
}

TEST_F(DumpJsonTest, TheRunIsAccountedFor) {
  log::Account account;
  using Kind = log::Account::Kind;
  const auto root = account.add("Module.__root__.R", Kind::kCollected, -1);
  account.add("Module.a.A", Kind::kCollected, root);
  account.add("Module.b.B", Kind::kCollected, root);
  account.add("Module.c.C", Kind::kFiltered, root);
  account.add("Module.d.D", Kind::kCollected, account.add("Module.silent.S", Kind::kCollected, root));
  account.add("Module.e.0.E", Kind::kCollected, account.add("Module.e.L", Kind::kWithoutForward, root));
  account.called(root);
  add("m|Module.__root__.R|out|#0|^$");
  account.recorded(records_, session_.tags);
  session_.tags.intern("m|Module.a.A|out|#0|^$");
  session_.tags.intern("m|Module.b.B|params|.weight|");
  log::Graphs graphs;
  graphs.replayed(graphs.add(7));
  run_ = run_text({"\"config\": {\"a\": [1]}", graphs.all(), account.summary(session_.tags), 3});
  const Json run = dump()["Run"];
  EXPECT_EQ(run["config"]["a"][0], 1);
  EXPECT_EQ(run["graphs"], Json::parse(R"([{"id": 0, "sites": 7, "replays": 1}])"));
  const Json& told = run["Account"];
  EXPECT_EQ(told["hooked"], 8);
  EXPECT_EQ(told["recorded"], 1);
  EXPECT_EQ(told["filtered"], 1);
  EXPECT_EQ(told["dropped"], 3);
  ASSERT_EQ(told["silent"].size(), 6U);
  const auto reason = [&](const char* name) { return told["silent"][name].get<std::string>(); };
  EXPECT_EQ(reason("Module.a.A").substr(0, 8), "captured");
  EXPECT_EQ(reason("Module.b.B").substr(0, 30), "not called through its forward") << "a parameter is no call";
  EXPECT_EQ(reason("Module.d.D").substr(0, 12), "never called");
  EXPECT_EQ(reason("Module.e.L").substr(0, 11), "a container");
  EXPECT_EQ(reason("Module.e.0.E").substr(0, 30), "not called through its forward")
      << "what is around the container was called";
}

TEST_F(DumpJsonTest, SavedTensorsAreNamed) {
  FileNames names;
  tensors_ = &names;
  add("m|Module.a b.A|args|#0|^").in_file = true;
  records_.back().call_index = 4;
  add("m|Module.a b.A|out|#0|$").call_index = 4;
  const Json whole = dump();
  EXPECT_EQ(whole["task"], "tensor");
  EXPECT_EQ(whole["dump_data_dir"], (folder_ / "step0/rank0/dump_tensor_data").string());
  const Json& entry = whole["data"]["Module.a b.A.forward.4"];
  EXPECT_EQ(entry["input_args"][0]["data_name"], "Module.a_b.A.forward.4.input.0.pt");
  EXPECT_EQ(entry["input_args"][0]["FullName"], "Module.a b.A.forward.4.input.0");
  EXPECT_FALSE(entry["output"][0].contains("data_name"));
}

TEST_F(DumpJsonTest, AFailedWriteLeavesNothing) {
  add("m|Module.a.A|out|#0|^$");
  fs::create_directories(folder_ / "dump.json");  // a folder where the file should go
  EXPECT_THROW(write_dump_json({"L0", folder_.string(), nullptr, {}}, records_, parameters_, session_), FileError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace msprobe::dump

// SPDX-License-Identifier: Apache-2.0
// The tensor task without a device: names, order, steps, switches, failures, threads.
#include "dump/tensor_log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "dump/saver.h"

namespace msprobe::dump {
namespace {

namespace fs = std::filesystem;

class TensorLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "msprobe_tensors_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    log_->set_folder((folder_ / "step0/rank0").string());
  }
  void TearDown() override {
    log_.reset();
    fs::remove_all(folder_);
  }

  std::unique_ptr<SaveTarget> target(const std::string& tag, bool captured) {
    log::Record record;
    record.tag = session_->tags.intern(tag);
    record.dtype = DType::kFloat32;
    record.shape = session_->shapes.intern(std::vector<std::int64_t>{2});
    record.position = session_->next_position();
    const log::Lanes::Place place = session_->lanes.next(session_->tags[record.tag]);
    record.call = place.call;
    return log_->target(record, place, captured);
  }

  // What a device does at each execution. False: not wanted.
  bool run(SaveTarget& target, float value) {
    std::optional<SaveTicket> ticket = target.begin();
    if (!ticket) {
      return false;
    }
    SaveJob& job = ticket->job;
    const std::vector<float> values{value, -value};
    job.dtype = DType::kFloat32;
    job.sizes = {2};
    job.bytes = 2 * sizeof(float);
    EXPECT_TRUE(queue_.acquire(job));
    job.data = queue_.allocate(job.bytes);
    std::memcpy(job.data.get(), values.data(), job.bytes);
    queue_.push(std::move(job));
    return true;
  }

  std::vector<log::Record> end_step(const std::string& next = "step0") {
    const TensorLog::Pause pause(*log_);
    queue_.flush();
    log_->collect();
    log_->end_step((folder_ / next / "rank0").string());
    return session_->host_log.take();
  }

  std::set<std::string> files(const std::string& step = "step0") const {
    std::set<std::string> names;
    const fs::path tensors = folder_ / step / "rank0/dump_tensor_data";
    if (fs::exists(tensors)) {
      for (const auto& file : fs::directory_iterator(tensors)) {
        names.insert(file.path().filename().string());
      }
    }
    return names;
  }

  fs::path folder_;
  std::shared_ptr<log::Session> session_ = std::make_shared<log::Session>();
  std::shared_ptr<TensorLog> log_ = std::make_shared<TensorLog>(session_);
  SaveQueue queue_{{.max_bytes = 1U << 20U, .threads = 3}};
};

TEST_F(TensorLogTest, EachReplayHasFilesAndRecordsOfItsOwn) {
  const auto input = target("m|Module.a.A|args|#0|^", true);
  const auto output = target("m|Module.a.A|out|#0|$", true);
  for (const float value : {1.0F, 2.0F}) {
    ASSERT_TRUE(run(*input, value));
    ASSERT_TRUE(run(*output, 10 * value));
  }
  const std::vector<log::Record> records = end_step("step1");
  ASSERT_EQ(records.size(), 4U);
  const std::vector<double> wanted{1, 10, 2, 20};
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].stats.max.real, wanted[i]);
    EXPECT_EQ(records[i].call_index, static_cast<std::int64_t>(i / 2));
    EXPECT_TRUE(records[i].in_file && records[i].has_counts);
  }
  EXPECT_EQ(files(), (std::set<std::string>{"Module.a.A.forward.0.input.0.pt", "Module.a.A.forward.0.output.0.pt",
                                            "Module.a.A.forward.1.input.0.pt", "Module.a.A.forward.1.output.0.pt"}));
  ASSERT_TRUE(run(*input, 3));
  EXPECT_EQ(end_step().front().call_index, 0) << "calls are counted from 0 in each step";
  EXPECT_EQ(files("step1"), std::set<std::string>{"Module.a.A.forward.0.input.0.pt"});
}

TEST_F(TensorLogTest, EagerCallsAndReplaysAreCountedAsTheyRun) {
  session_->lanes.enter_forward();
  const auto captured = target("a|Aten.mul|out|#0|^$", true);
  session_->lanes.end_forward();
  for (const float value : {1.0F, 3.0F}) {
    session_->lanes.enter_forward();
    ASSERT_TRUE(run(*target("a|Aten.mul|out|#0|^$", false), value));
    session_->lanes.end_forward();
    ASSERT_TRUE(run(*captured, value + 1));
  }
  const std::vector<log::Record> records = end_step();
  ASSERT_EQ(records.size(), 4U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].stats.max.real, static_cast<double>(i + 1));
    EXPECT_EQ(records[i].call_index, static_cast<std::int64_t>(i));
  }
}

TEST_F(TensorLogTest, AGraphReplayedInsideAForwardStandsBeforeIt) {
  session_->lanes.enter_forward();
  const auto inner = target("m|Module.a.A|out|#0|^$", true);
  session_->lanes.end_forward();
  session_->lanes.enter_forward();
  run(*target("m|Module.__root__.R|args|#0|^", false), 1);
  run(*inner, 2);
  run(*target("m|Module.__root__.R|out|#0|$", false), 3);
  session_->lanes.end_forward();
  std::vector<double> order;
  for (const log::Record& record : end_step()) {
    order.push_back(record.stats.max.real);
  }
  EXPECT_EQ(order, (std::vector<double>{2, 1, 3}));
}

TEST_F(TensorLogTest, AReplayIsSavedAsAWholeOrNotAtAll) {
  const auto input = target("m|Module.a.A|args|#0|^", true);
  const auto output = target("m|Module.a.A|out|#0|$", true);
  EXPECT_TRUE(run(*input, 1));
  session_->lanes.set_recording(false);
  EXPECT_TRUE(run(*output, 1));
  EXPECT_FALSE(run(*input, 2));
  session_->lanes.set_recording(true);
  EXPECT_FALSE(run(*output, 2));
  EXPECT_TRUE(run(*input, 3));
  EXPECT_TRUE(run(*output, 3));
  EXPECT_EQ(end_step().size(), 4U);
  EXPECT_FALSE(fs::exists(folder_ / "step1"));
}

TEST_F(TensorLogTest, AClosedSessionSavesNothing) {
  const auto captured = target("m|Module.a.A|args|#0|^", true);
  session_->close();
  EXPECT_FALSE(run(*captured, 1));
  EXPECT_FALSE(target("m|Module.a.A|out|#0|$", false)->wanted());
}

TEST_F(TensorLogTest, AThrownAwayStepLeavesNoFiles) {
  const auto input = target("m|Module.a.A|args|#0|^$", true);
  run(*input, 1);
  std::vector<log::Record> records;
  {
    const TensorLog::Pause pause(*log_);
    queue_.flush();
    log_->collect();
    records = session_->host_log.take();
    log_->remove_step(records);
  }
  EXPECT_FALSE(fs::exists(folder_ / "step0/rank0"));
  run(*input, 2);
  EXPECT_EQ(end_step().front().call_index, 0);
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(TensorLogTest, AFileThatCannotBeWrittenLeavesARecordThatSaysSo) {
  fs::create_directories(folder_ / "step0");
  std::FILE* file = std::fopen((folder_ / "step0/rank0").c_str(), "w");  // a file where the folder should be
  ASSERT_NE(file, nullptr);
  std::fclose(file);
  run(*target("m|Module.a.A|args|#0|^$", false), 5);
  const std::vector<log::Record> records = end_step();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_FALSE(records[0].in_file);
  EXPECT_EQ(records[0].stats.max.real, 5) << "the numbers are known all the same";
  EXPECT_NE(session_->notes[records[0].note].find("Not a directory"), std::string::npos);
  EXPECT_THROW(queue_.throw_error(), Error);
}

TEST_F(TensorLogTest, ManyThreadsAndStepsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kRuns = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto mine = target("m|Module.t" + std::to_string(t) + ".A|out|#0|^$", true);
      for (int i = 0; i < kRuns; ++i) {
        run(*mine, static_cast<float>(i));
      }
    });
  }
  std::size_t saved = 0;
  std::size_t found = 0;
  for (int step = 0; saved < std::size_t{kThreads} * kRuns; ++step) {
    const TensorLog::Pause pause(*log_);
    queue_.flush();
    log_->collect();
    log_->end_step((folder_ / ("step" + std::to_string(step + 1)) / "rank0").string());
    const std::vector<log::Record> records = session_->host_log.take();
    saved += records.size();
    for (const log::Record& record : records) {
      found +=
          files("step" + std::to_string(step)).contains(log_->names.of(session_->tags[record.tag], record.call_index).name);
    }
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(found, saved) << "each record's file lies in the folder of its own step";
}

}  // namespace
}  // namespace msprobe::dump

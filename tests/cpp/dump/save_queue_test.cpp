// SPDX-License-Identifier: Apache-2.0
// The save queue: nothing lost, a bound that holds, a limit that is told of, files that are whole.
#include "dump/save_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "dump/pt_frame.h"
#include "dump/saver.h"

namespace msprobe::dump {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class SaveQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "msprobe_save_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  SaveJob job(const std::string& name, std::size_t bytes, unsigned char value) const {
    SaveJob job;
    job.path = (folder_ / name).string();
    job.dtype = DType::kUInt8;
    job.sizes = {static_cast<std::int64_t>(bytes)};
    job.bytes = bytes;
    job.data = new_buffer(bytes);
    std::memset(job.data.get(), value, bytes);
    return job;
  }

  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

TEST_F(SaveQueueTest, ManyThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kJobs = 100;
  constexpr std::size_t kBytes = 3000;
  SaveQueue queue({.max_bytes = 4 * kBytes, .threads = 3});
  std::atomic<std::size_t> most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kJobs; ++i) {
        SaveJob one = job(std::to_string(t) + "_" + std::to_string(i), kBytes, static_cast<unsigned char>(t * kJobs + i));
        ASSERT_TRUE(queue.acquire(one));
        const std::size_t waiting = queue.bytes_waiting();
        for (std::size_t seen = most; seen < waiting && !most.compare_exchange_weak(seen, waiting);) {
        }
        queue.push(std::move(one));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  queue.flush();
  queue.throw_error();
  EXPECT_EQ(queue.bytes_waiting(), 0U);
  EXPECT_LE(most.load(), 4 * kBytes);
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kJobs; ++i) {
      const SaveJob one = job("x", kBytes, static_cast<unsigned char>(t * kJobs + i));
      const PtFrame frame = make_pt_frame(one.dtype, one.sizes, one.data.get(), one.bytes);
      const std::string data(kBytes, static_cast<char>(t * kJobs + i));
      EXPECT_EQ(content(folder_ / (std::to_string(t) + "_" + std::to_string(i))), frame.head + data + frame.tail);
    }
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), kThreads * kJobs);
}

TEST_F(SaveQueueTest, ATensorLargerThanTheBoundIsTakenAlone) {
  SaveQueue queue({.max_bytes = 100});
  SaveJob large = job("large", 5000, 1);
  ASSERT_TRUE(queue.acquire(large));
  queue.push(std::move(large));
  queue.flush();
  queue.throw_error();
  EXPECT_TRUE(fs::exists(folder_ / "large"));
}

TEST_F(SaveQueueTest, RoomThatDoesNotComeIsToldOnceWithACount) {
  SaveQueue queue({.max_bytes = 100, .threads = 1, .wait_limit = milliseconds(20)});
  const SaveJob held = job("held", 90, 1);
  ASSERT_TRUE(queue.acquire(held));
  EXPECT_FALSE(queue.acquire(job("first", 20, 1)));
  EXPECT_FALSE(queue.acquire(job("second", 20, 1)));
  try {
    queue.throw_error();
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("2 tensors were not saved; the first: cannot save '" + (folder_ / "first").string() + "': no room"),
              std::string::npos)
        << text;
  }
  queue.throw_error();
  queue.give_up(held, "the device failed");
  EXPECT_THROW(queue.throw_error(), Error);
  EXPECT_EQ(queue.bytes_waiting(), 0U);
  EXPECT_TRUE(queue.acquire(job("fits again", 100, 1)));
}

TEST_F(SaveQueueTest, AFileThatCannotBeWrittenIsToldAndTheRestGoOn) {
  SaveQueue queue({.max_bytes = 1000});
  for (const char* name : {"a", "missing/b", "c"}) {
    SaveJob one = job(name, 10, 1);
    ASSERT_TRUE(queue.acquire(one));
    queue.push(std::move(one));
  }
  queue.flush();
  try {
    queue.throw_error();
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("1 tensor was not saved: cannot create '" + (folder_ / "missing/b").string() + "': No such file"),
              std::string::npos)
        << text;
  }
  EXPECT_TRUE(fs::exists(folder_ / "a") && fs::exists(folder_ / "c"));
  EXPECT_EQ(queue.bytes_waiting(), 0U);
}

TEST_F(SaveQueueTest, DestructionWritesWhatWasPushed) {
  {
    SaveQueue queue({.max_bytes = 100000});
    for (int i = 0; i < 50; ++i) {
      SaveJob one = job(std::to_string(i), 100, 1);
      ASSERT_TRUE(queue.acquire(one));
      queue.push(std::move(one));
    }
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 50);
}

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr milliseconds kShort{150};
constexpr milliseconds kLong{20'000};
constexpr milliseconds kForever{3'600'000};

// A queue of 10 MiB in which one tensor of `pushed` MiB waits for a writer and another one of 1 MiB is being copied.
class CopyTest : public SaveQueueTest {
 protected:
  void begin(std::size_t pushed, std::optional<bool> copies_first = true, std::size_t copied = kMiB,
             milliseconds longest_rest = kForever) {
    queue_ = std::make_unique<SaveQueue>(
        SaveQueueOptions{.max_bytes = 10 * kMiB, .copies_first = copies_first, .longest_rest = longest_rest});
    copied_ = job("copied", copied, 1);
    ASSERT_TRUE(queue_->acquire(copied_));
    SaveJob one = job("pushed", pushed * kMiB, 7);
    ASSERT_TRUE(queue_->acquire(one));
    queue_->push(std::move(one));
  }
  void TearDown() override {
    queue_.reset();  // writes what waits
    SaveQueueTest::TearDown();
  }
  bool written_within(milliseconds limit) const {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!fs::exists(folder_ / "pushed") && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    return fs::exists(folder_ / "pushed");
  }

  std::unique_ptr<SaveQueue> queue_;
  SaveJob copied_;
};

TEST_F(CopyTest, WritersStandBackUntilItHasEnded) {
  begin(1);
  EXPECT_FALSE(written_within(kShort));
  queue_->push(std::move(copied_));
  EXPECT_TRUE(written_within(kLong));
}

TEST_F(CopyTest, ACopyThatFailedEndsToo) {
  begin(1);
  EXPECT_FALSE(written_within(kShort));
  queue_->give_up(copied_, "the device failed");
  EXPECT_TRUE(written_within(kLong));
}

TEST_F(CopyTest, WritersDoNotStandBackForLong) {
  begin(1, true, kMiB, kShort);
  EXPECT_TRUE(written_within(kLong));
}

TEST_F(CopyTest, WritersDoNotStandBackFromAFullQueue) {
  begin(6);
  EXPECT_TRUE(written_within(kLong));
}

TEST_F(CopyTest, WritersDoNotStandBackWhereCoresAreMany) {
  begin(1, false);
  EXPECT_TRUE(written_within(kLong));
}

TEST_F(CopyTest, WritersDoNotStandBackFromASmallTensor) {
  begin(1, true, 1000);
  EXPECT_TRUE(written_within(kLong));
}

TEST_F(CopyTest, WritersDoNotStandBackFromAFlush) {
  begin(1);
  queue_->flush();
  EXPECT_TRUE(fs::exists(folder_ / "pushed"));
}

TEST_F(CopyTest, WritersDoNotStandBackFromOneWhoWaitsForRoom) {
  begin(4);
  EXPECT_TRUE(queue_->acquire(job("next", 7 * kMiB, 1)));
}

TEST_F(SaveQueueTest, FlushDoesNotWaitForWhatComesLater) {
  SaveQueue queue({.max_bytes = std::size_t{1} << 30U, .threads = 1});
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (int i = 0; !stop; ++i) {
      SaveJob one = job("busy" + std::to_string(i % 4), 100000, 1);
      ASSERT_TRUE(queue.acquire(one));
      queue.push(std::move(one));
    }
  });
  SaveJob mine = job("mine", 10, 7);
  ASSERT_TRUE(queue.acquire(mine));
  queue.push(std::move(mine));
  queue.flush();
  EXPECT_TRUE(fs::exists(folder_ / "mine"));
  stop = true;
  busy.join();
}

TEST(Saver, NumbersEachBaseFromZero) {
  Saver saver({.max_bytes = 1});
  EXPECT_EQ(saver.next_path("/a/b"), "/a/b_0.pt");
  EXPECT_EQ(saver.next_path("/a/b"), "/a/b_1.pt");
  EXPECT_EQ(saver.next_path("/a/c"), "/a/c_0.pt");
}

TEST(PtFrame, DataBeginsAtAMultipleOf64) {
  for (const std::size_t dims : {0U, 1U, 3U, 7U}) {
    const std::vector<std::int64_t> sizes(dims, 1);
    const float value = 1;
    const PtFrame frame = make_pt_frame(DType::kFloat32, sizes, &value, sizeof value);
    EXPECT_EQ(frame.head.size() % 64, 0U);
  }
}

}  // namespace
}  // namespace msprobe::dump

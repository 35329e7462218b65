// SPDX-License-Identifier: Apache-2.0
// The host log keeps commits together and loses nothing; background errors are told once.
#include "log/session.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace msprobe::log {
namespace {

Record record_of(TagId tag) {
  Record record;
  record.tag = tag;
  return record;
}

TEST(HostLog, ThreadsKeepTheirCommitsTogether) {
  constexpr TagId kThreads = 4;
  constexpr int kCommits = 300;
  constexpr int kRecords = 5;
  HostLog host_log;
  std::vector<Record> all;
  std::vector<std::thread> threads;
  for (TagId t = 0; t < kThreads; ++t) {
    threads.emplace_back([&host_log, t] {
      for (int i = 0; i < kCommits; ++i) {
        host_log.append(std::vector<Record>(kRecords, record_of(t)));
      }
    });
  }
  while (all.size() < std::size_t{kThreads} * kCommits * kRecords) {
    const std::vector<Record> some = host_log.take();
    all.insert(all.end(), some.begin(), some.end());
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  ASSERT_EQ(all.size(), std::size_t{kThreads} * kCommits * kRecords);
  for (std::size_t i = 0; i < all.size(); i += kRecords) {
    for (std::size_t j = 1; j < kRecords; ++j) {
      ASSERT_EQ(all[i + j].tag, all[i].tag) << "a commit was torn apart at " << i;
    }
  }
}

TEST(HostLog, PutsTheDevicesPartsOfOneRunTogether) {
  const auto at = [](TagId tag, std::uint64_t position) {
    Record record = record_of(tag);
    record.position = position;
    return record;
  };
  HostLog host_log;
  host_log.append(std::vector{at(1, 10), at(3, 30)}, {7, 0});  // one device, first run
  host_log.append(std::vector{at(1, 10), at(3, 30)}, {7, 1});  // and second
  host_log.append(std::vector{at(9, 5)});                      // by itself: stays where it came
  host_log.append(std::vector{at(2, 20)}, {7, 0});             // the other device, later
  host_log.append(std::vector{at(2, 20)}, {7, 1});
  std::vector<TagId> tags;
  for (const Record& record : host_log.take()) {
    tags.push_back(record.tag);
  }
  EXPECT_EQ(tags, (std::vector<TagId>{1, 2, 3, 1, 2, 3, 9}));
  EXPECT_EQ(host_log.size(), 0U);
}

TEST(HostLog, PutsTakenRecordsBackInFront) {
  HostLog host_log;
  host_log.append(std::vector{record_of(1), record_of(2)});
  std::vector<Record> taken = host_log.take();
  EXPECT_EQ(host_log.size(), 0U);
  host_log.append(std::vector{record_of(3)});
  host_log.put_back(std::move(taken));
  const std::vector<Record> all = host_log.take();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].tag, 1U);
  EXPECT_EQ(all[1].tag, 2U);
  EXPECT_EQ(all[2].tag, 3U);
}

TEST(Session, TellsABackgroundErrorOnceWithACount) {
  Session session;
  session.throw_background_error();  // nothing to tell
  session.background_error("disk gone");
  session.background_error("disk gone again");
  session.background_error("and again");
  try {
    session.throw_background_error();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "disk gone (and 2 more like it since)");
  }
  session.throw_background_error();
}

TEST(Session, SharesShapesAndNotes) {
  Session session;
  const std::array<std::int64_t, 2> shape{2, 8};
  const ShapeId id = session.shapes.intern(shape);
  EXPECT_EQ(session.shapes.intern(std::vector<std::int64_t>{2, 8}), id);
  EXPECT_NE(session.shapes.intern(std::vector<std::int64_t>{2}), id);
  EXPECT_NE(session.shapes.intern(std::vector<std::int64_t>{}), id);
  EXPECT_EQ(session.shapes[id], (std::vector<std::int64_t>{2, 8}));
  EXPECT_NE(session.notes.intern(std::string("why")), kNoNote);
}

}  // namespace
}  // namespace msprobe::log

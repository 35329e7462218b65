// SPDX-License-Identifier: Apache-2.0
// Which tensors are one call, in the orders in which devices bring them.
#include "dump/calls.h"

#include <gtest/gtest.h>

#include <string>

#include "log/session.h"

namespace msprobe::dump {
namespace {

class CallsTest : public ::testing::Test {
 protected:
  std::size_t add(const std::string& tag, log::CallId call, std::uint64_t replay = 0) {
    log::Record record;
    record.tag = tags_.intern(tag);
    record.call = call;
    record.replay = replay;
    return calls_.add(record, tags_[record.tag]);
  }

  log::TagTable tags_;
  Calls calls_;
};

TEST_F(CallsTest, EachReplayIsACallOfItsOwn) {
  EXPECT_EQ(add("m|Module.a.A|args|#0|^", 7, 0), 0U);
  EXPECT_EQ(add("m|Module.a.A|out|#0|$", 7, 0), 0U);
  EXPECT_EQ(add("m|Module.a.A|args|#0|^", 7, 1), 1U);
  EXPECT_EQ(add("m|Module.a.A|out|#0|$", 7, 1), 1U);
  EXPECT_EQ(calls_[1].index, 1);
}

TEST_F(CallsTest, TensorsThatADeviceBringsOutOfOrderStayWithTheirCall) {
  EXPECT_EQ(add("m|Module.a.A|out|#0|$", 1), 0U);
  EXPECT_EQ(add("m|Module.a.A|out|#0|$", 2), 1U);
  EXPECT_EQ(add("m|Module.a.A|args|#0|^", 2), 1U);
  EXPECT_EQ(add("m|Module.a.A|args|#0|^", 1), 0U);
}

// A module that a graph break cuts: its inputs come from a captured piece, its results from eager code, each with a number of its own.
TEST_F(CallsTest, ACallThatEndsOutsideItsPieceGoesOn) {
  EXPECT_EQ(add("m|Module.a.A|args|#0|^", 1, 5), 0U);
  EXPECT_EQ(add("m|Module.a.A|out|#0|$", 9), 0U);
  EXPECT_EQ(add("m|Module.a.A|args|#0|^", 1, 6), 1U);
  EXPECT_EQ(add("m|Module.a.A|out|#0|$", 10), 1U);
}

TEST_F(CallsTest, WithoutInputsEachResultIsACall) {
  EXPECT_EQ(add("m|Module.a.A|out|#0|", 1), 0U);
  EXPECT_EQ(add("m|Module.a.A|out|#1|$", 1), 0U);
  EXPECT_EQ(add("m|Module.a.A|out|#0|", 2), 1U);
  EXPECT_EQ(add("m|Module.a.A|out|#1|$", 2), 1U);
  EXPECT_EQ(calls_[1].index, 1);
}

TEST_F(CallsTest, NamesAreCountedApartAndFromZeroAfterClear) {
  add("m|Module.a.A|args|#0|^$", 1);
  EXPECT_EQ(calls_[add("a|Aten.add|args|#0|^$", 2)].index, 0);
  EXPECT_EQ(calls_[add("m|Module.a.A|args|#0|^$", 3)].index, 1);
  calls_.clear();
  EXPECT_EQ(calls_[add("m|Module.a.A|args|#0|^$", 4)].index, 0);
}

}  // namespace
}  // namespace msprobe::dump

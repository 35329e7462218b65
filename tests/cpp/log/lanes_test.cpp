// SPDX-License-Identifier: Apache-2.0
// Calls, forwards and the scope, as each thread's program comes to its tensors.
#include "log/lanes.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace msprobe::log {
namespace {

class LanesTest : public ::testing::Test {
 protected:
  Lanes::Place next(Lanes& lanes, const std::string& tag) { return lanes.next(tags_[tags_.intern(tag)]); }

  TagTable tags_;
};

TEST_F(LanesTest, TensorsOfOneCallShareItsNumberAndCallsNest) {
  Lanes lanes;
  const CallId outer = next(lanes, "m|Module.a.A|args|#0|^").call;
  const CallId other = next(lanes, "m|Module.a.b.B|args|#0|^").call;
  const CallId inner = next(lanes, "m|Module.a.A|args|#0|^").call;  // A calls itself
  EXPECT_EQ(next(lanes, "m|Module.a.A|out|#0|$").call, inner);
  EXPECT_EQ(next(lanes, "m|Module.a.b.B|out|#0|$").call, other);
  EXPECT_EQ(next(lanes, "m|Module.a.A|out|#0|$").call, outer);
  EXPECT_NE(outer, inner);
  EXPECT_NE(outer, other);
}

TEST_F(LanesTest, APlaceTwiceIsTwoCalls) {
  Lanes lanes;
  const CallId first = next(lanes, "a|Aten.add|out|#0|").call;
  EXPECT_NE(next(lanes, "a|Aten.add|out|#0|").call, first);
}

TEST_F(LanesTest, CallsThatNeverCloseDoNotPileUp) {
  Lanes lanes;
  for (int i = 0; i < 1000; ++i) {
    next(lanes, "m|Module.a.A|args|#0|^");
  }
  EXPECT_TRUE(lanes.busy(std::this_thread::get_id()));
  lanes.settle();
  EXPECT_FALSE(lanes.busy(std::this_thread::get_id()));
}

TEST_F(LanesTest, APartOfAForwardEndsAndTheForwardGoesOn) {
  Lanes lanes;
  lanes.enter_forward();
  const auto before = next(lanes, "m|Module.a.A|args|#0|^");
  lanes.set_recording(false);  // from the next forward on
  lanes.end_part();
  EXPECT_TRUE(lanes.any_entered());
  const auto after = next(lanes, "m|Module.a.A|out|#0|$");
  EXPECT_EQ(after.call, before.call);
  EXPECT_NE(after.forward, before.forward);
  EXPECT_TRUE(after.recording);
  lanes.end_forward();
  lanes.end_part();  // in none
  EXPECT_FALSE(lanes.busy(std::this_thread::get_id()));
  next(lanes, "m|Module.a.A|args|#0|^");
  lanes.end_part();
  EXPECT_FALSE(lanes.busy(std::this_thread::get_id()));
}

TEST_F(LanesTest, ThreadsHaveForwardsOfTheirOwn) {
  Lanes lanes;
  lanes.enter_forward();
  const auto here = next(lanes, "m|Module.a.A|args|#0|^");
  EXPECT_EQ(next(lanes, "m|Module.a.A|out|#0|$").forward, here.forward);
  EXPECT_TRUE(lanes.busy(std::this_thread::get_id()));
  EXPECT_TRUE(lanes.any_entered());
  std::thread([&] {
    EXPECT_FALSE(lanes.busy(std::this_thread::get_id()));
    const auto there = next(lanes, "m|Module.a.A|args|#0|^");
    EXPECT_NE(there.forward, here.forward);
    EXPECT_NE(there.call, here.call);
    lanes.end_forward();
  }).join();
  lanes.settle();  // an entered forward goes on
  EXPECT_EQ(lanes.forward(), here.forward);
  lanes.end_forward();
  EXPECT_FALSE(lanes.any_entered());
  EXPECT_NE(lanes.forward(), here.forward);
}

TEST_F(LanesTest, AnEnteredForwardIsRecordedAsAWholeOrNotAtAll) {
  Lanes lanes;
  lanes.enter_forward();
  EXPECT_TRUE(next(lanes, "m|Module.a.A|args|#0|^").recording);
  lanes.set_recording(false);
  EXPECT_TRUE(next(lanes, "m|Module.a.A|out|#0|$").recording);
  lanes.end_forward();
  EXPECT_FALSE(next(lanes, "m|Module.a.A|args|#0|^").recording);
  lanes.set_recording(true);
  EXPECT_TRUE(next(lanes, "m|Module.a.A|out|#0|$").recording);
  lanes.end_forward();
  lanes.set_recording(false);
  lanes.enter_forward();
  lanes.set_recording(true);
  EXPECT_FALSE(next(lanes, "m|Module.a.A|args|#0|^").recording);
}

TEST_F(LanesTest, SectionsAndKindsAreFiltered) {
  Lanes inputs(Wanted{{}, {}, true, true, true, true, false});
  EXPECT_TRUE(next(inputs, "m|Module.a.A|args|#0|^").wanted);
  EXPECT_TRUE(next(inputs, "m|Module.a.A|kwargs|.mask|").wanted);
  EXPECT_FALSE(next(inputs, "m|Module.a.A|out|#0|$").wanted);
  EXPECT_FALSE(inputs.busy(std::this_thread::get_id())) << "what is not wanted closes its call all the same";
  Lanes outputs(Wanted{{}, {}, true, true, true, false, true});
  EXPECT_FALSE(next(outputs, "a|Aten.add|args|#0|^").wanted);
  EXPECT_TRUE(next(outputs, "a|Aten.add|out|#0|$").wanted);
  Lanes apis(Wanted{{}, {}, true, true, false, true, true});
  EXPECT_FALSE(next(apis, "m|Module.a.A|args|#0|^").wanted);
  EXPECT_TRUE(next(apis, "a|Aten.add|args|#0|^").wanted);
}

// The tags of a root with three children in a row, and whether each was wanted.
std::string wanted_in_a_run(Lanes& lanes, TagTable& tags) {
  std::string wanted;
  for (const char* tag : {"m|Module.__root__.R|args|#0|^", "m|Module.a.A|args|#0|^", "a|Aten.x|args|#0|^$",
                          "m|Module.a.A|out|#0|$", "m|Module.b.B|args|#0|^", "m|Module.b.B|out|#0|$", "m|Module.c.C|args|#0|^",
                          "m|Module.c.C|out|#0|$", "m|Module.__root__.R|out|#0|$"}) {
    wanted += lanes.next(tags[tags.intern(tag)]).wanted ? '1' : '0';
  }
  return wanted;
}

TEST_F(LanesTest, TheScopeHoldsFromItsFirstModuleToItsLast) {
  const auto run = [&](const char* first, const char* last, bool first_wanted = true, bool last_wanted = true) {
    Lanes lanes(Wanted{first, last, first_wanted, last_wanted, true, true, true});
    const std::string wanted = wanted_in_a_run(lanes, tags_);
    EXPECT_EQ(wanted_in_a_run(lanes, tags_), wanted) << "the next run of the same thread";
    return wanted;
  };
  EXPECT_EQ(run("Module.a.A", "Module.b.B"), "011111000");
  EXPECT_EQ(run("Module.a.A", "Module.b.B", false, true), "001011000") << "an end may only mark the scope";
  EXPECT_EQ(run("Module.a.A", "Module.b.B", true, false), "011100000");
  EXPECT_EQ(run("Module.b.B", "Module.b.B"), "000011000");
  EXPECT_EQ(run("Module.a.A", "Module.a.A"), "011100000");
  EXPECT_EQ(run("Module.__root__.R", "Module.a.A"), "111100000") << "the root's result lies behind the last module";
  EXPECT_EQ(run("Module.__root__.R", "Module.__root__.R"), "111111111");
}

TEST_F(LanesTest, AScopeWhoseLastModuleDoesNotRunEndsWithTheForward) {
  Lanes lanes(Wanted{"Module.c.C", "Module.a.A", true, true, true, true, true});
  lanes.enter_forward();
  EXPECT_EQ(wanted_in_a_run(lanes, tags_), "000000111");
  lanes.end_forward();
  lanes.enter_forward();
  EXPECT_EQ(wanted_in_a_run(lanes, tags_), "000000111");
}

}  // namespace
}  // namespace msprobe::log

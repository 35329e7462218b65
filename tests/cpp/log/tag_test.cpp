// SPDX-License-Identifier: Apache-2.0
// Tags: the form, its escapes, its errors, and numbering from several threads.
#include "log/tag.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace msprobe::log {
namespace {

TEST(ParseTag, ReadsEveryField) {
  const Tag tag = parse_tag("m|Module.layers.0.attn.Attention|kwargs|.mask/#12/.a|^");
  EXPECT_EQ(tag.kind, EntryKind::kModule);
  EXPECT_EQ(tag.name, "Module.layers.0.attn.Attention");
  EXPECT_EQ(tag.section, Section::kInputKwargs);
  EXPECT_EQ(tag.path, (std::vector<PathElement>{{true, "mask"}, {false, "12"}, {true, "a"}}));
  EXPECT_TRUE(tag.opens_call);
  EXPECT_FALSE(tag.closes_call);
}

TEST(ParseTag, ReadsBothMarksAndNone) {
  const Tag both = parse_tag("a|Aten.addmm|out|#0|^$");
  EXPECT_EQ(both.kind, EntryKind::kApi);
  EXPECT_EQ(both.section, Section::kOutput);
  EXPECT_TRUE(both.opens_call && both.closes_call);
  const Tag none = parse_tag("a|Aten.addmm|args|#0|");
  EXPECT_FALSE(none.opens_call || none.closes_call);
}

TEST(ParseTag, UndoesEscapes) {
  const Tag tag = parse_tag("m|Module.a%7Cb%25c.X|kwargs|.k%2Fey|");
  EXPECT_EQ(tag.name, "Module.a|b%c.X");
  EXPECT_EQ(tag.path, (std::vector<PathElement>{{true, "k/ey"}}));
}

class BadTag : public ::testing::TestWithParam<const char*> {};

TEST_P(BadTag, IsAnErrorThatShowsTheTag) {
  try {
    parse_tag(GetParam());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam()), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadTag,
                         ::testing::Values("", "m", "m|a|args|#0", "m|a|args|#0||", "x|a|args|#0|", "m||args|#0|",
                                           "m|a|arg|#0|", "m|a|args||", "m|a|args|0|", "m|a|args|#|", "m|a|args|#x|",
                                           "m|a|args|#0/|", "m|a|args|#0|x", "m|a%|args|#0|", "m|a%2|args|#0|",
                                           "m|a%2g|args|#0|"));

TEST(TagTable, NumbersInOrderOfFirstUse) {
  TagTable table;
  const TagId first = table.intern("m|A|args|#0|^");
  const TagId second = table.intern("m|B|args|#0|^");
  EXPECT_LT(first, second);
  EXPECT_EQ(table.intern("m|A|args|#0|^"), first);
  EXPECT_EQ(table[second].name, "B");
}

TEST(TagTable, PlacesAreTheSameWhateverTheMarks) {
  TagTable table;
  const auto place = [&](std::string_view text) { return table[table.intern(text)].place; };
  EXPECT_EQ(place("m|A|args|#0|^"), place("m|B|args|#0|$"));
  EXPECT_NE(place("m|A|args|#0|^"), place("m|A|out|#0|$"));
  EXPECT_NE(place("m|A|args|#0|^"), place("m|A|args|#1|"));
}

TEST(TagTable, ABadTagTakesNoNumber) {
  TagTable table;
  EXPECT_THROW(table.intern("nonsense"), Error);
  EXPECT_THROW(table.intern("nonsense"), Error);
  EXPECT_EQ(table.intern("m|A|args|#0|^"), 0U);
}

TEST(TagTable, ManyThreadsAgree) {
  constexpr int kThreads = 4;
  constexpr int kTags = 500;
  TagTable table;
  std::vector<std::vector<TagId>> ids(kThreads, std::vector<TagId>(kTags));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTags; ++i) {
        const int which = (i + t * 97) % kTags;
        ids[static_cast<std::size_t>(t)][static_cast<std::size_t>(which)] =
            table.intern("m|Module." + std::to_string(which) + "|out|#0|");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& of_thread : ids) {
    EXPECT_EQ(of_thread, ids.front());
  }
  EXPECT_EQ(std::set<TagId>(ids.front().begin(), ids.front().end()).size(), static_cast<std::size_t>(kTags));
  EXPECT_EQ(table[ids.front()[7]].name, "Module.7");
}

}  // namespace
}  // namespace msprobe::log

// SPDX-License-Identifier: Apache-2.0
// Every way in which dumps may lie in folders, and which of them are paired.
#include "read/layout.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"

namespace msprobe::read {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class LayoutTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "msprobe_layout_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void files(const Texts& paths) const {
    for (const std::string& path : paths) {
      fs::create_directories((folder_ / path).parent_path());
      std::ofstream(folder_ / path) << "{}";
    }
  }
  std::string at(const std::string& path) const { return (folder_ / path).string(); }
  Layout pair(const std::string& target, const std::string& golden, const NumberRanges& ranks = {},
              const NumberRanges& steps = {}) const {
    return pair_dumps(at(target), at(golden), ranks, steps);
  }
  // Why the two are not paired.
  std::string refusal(const std::string& target, const std::string& golden, const NumberRanges& ranks,
                      const NumberRanges& steps) const {
    try {
      pair(target, golden, ranks, steps);
    } catch (const Error& error) {
      return error.what();
    }
    return "paired";
  }
  // "label target golden" of each pair, from below the folder.
  Texts pairs(const Layout& layout) const {
    Texts texts;
    for (const DumpPair& pair : layout.pairs) {
      texts.push_back(pair.target.label() + " " + fs::relative(pair.target.path, folder_).string() + " " +
                      fs::relative(pair.golden.path, folder_).string());
    }
    return texts;
  }
  fs::path folder_;
};

TEST_F(LayoutTest, FilesOfAnyName) {
  files({"t/my.json", "g/other.json"});
  EXPECT_EQ(pairs(pair("t/my.json", "g/other.json")), (Texts{" t/my.json g/other.json"}));
}

TEST_F(LayoutTest, FoldersWithADump) {
  files({"t/dump.json", "t/stack.json", "t/x.json", "g/my.json", "g/stack.json", "g/construct.json"});
  EXPECT_EQ(pairs(pair("t", "g")), (Texts{" t/dump.json g/my.json"}));
  EXPECT_EQ(pairs(pair("t", "g/my.json")), (Texts{" t/dump.json g/my.json"}));
}

TEST_F(LayoutTest, FoldersWithSeveralFilesAreAnError) {
  files({"t/a.json", "t/b.json", "g/dump.json"});
  EXPECT_THROW(pair("t", "g"), Error);
}

TEST_F(LayoutTest, OtherFilesBesideStepsAndRanksAreNoDumps) {
  files({"t/config.json", "t/a.json", "t/step0/rank0/dump.json", "t/step1/config.json", "t/step1/rank0/dump.json",
         "g/config.json", "g/step0/rank0/dump.json", "g/step1/rank0/dump.json"});
  const Layout layout = pair("t", "g");
  EXPECT_EQ(pairs(layout), (Texts{"rank0 t/step0/rank0/dump.json g/step0/rank0/dump.json",
                                  "rank0 t/step1/rank0/dump.json g/step1/rank0/dump.json"}));
  EXPECT_TRUE(layout.unpaired.empty());
  EXPECT_EQ(pairs(pair("t/step1", "g/step1")), (Texts{"rank0 t/step1/rank0/dump.json g/step1/rank0/dump.json"}));
  for (const char* kind : {"pid7", "proc7", "rank"}) {
    const std::string one = "k/" + std::string(kind);
    files({one + "/config.json", one + "/" + kind + "/dump.json"});
    EXPECT_EQ(pairs(pair(one, one)),
              (Texts{std::string(kind) + " " + one + "/" + kind + "/dump.json " + one + "/" + kind + "/dump.json"}));
  }
}

TEST_F(LayoutTest, ADumpBesideStepsIsComparedAsWell) {
  files({"t/dump.json", "t/step0/rank0/dump.json", "t/step0/dump.json", "g/dump.json", "g/step0/rank0/dump.json",
         "g/step1/rank0/dump.json", "r/dump.json", "r/rank0/dump.json"});
  const Layout layout = pair("t", "g");
  EXPECT_EQ(pairs(layout), (Texts{" t/dump.json g/dump.json", "rank0 t/step0/rank0/dump.json g/step0/rank0/dump.json"}));
  ASSERT_EQ(layout.unpaired.size(), 2U);
  EXPECT_EQ(layout.unpaired[0].path, at("t/step0/dump.json"));
  EXPECT_EQ(layout.unpaired[1].path, at("g/step1/rank0/dump.json"));
  EXPECT_FALSE(layout.several_steps);
  EXPECT_EQ(pairs(pair("t", "g", {}, {{0, 0}})).size(), 1U);
  EXPECT_EQ(pairs(pair("r", "r")), (Texts{" r/dump.json r/dump.json", "rank0 r/rank0/dump.json r/rank0/dump.json"}));
  const Layout one_sided = pair("r", "g/dump.json");
  EXPECT_EQ(pairs(one_sided), (Texts{" r/dump.json g/dump.json"}));
  EXPECT_EQ(one_sided.unpaired.size(), 1U);
}

TEST_F(LayoutTest, RanksArePairedByNumber) {
  files({"t/rank0/dump.json", "t/rank1/dump.json", "t/rank10/dump.json", "g/rank1/dump.json", "g/rank2/dump.json",
         "g/rank10/dump.json", "t/rank01/dump.json", "t/other/dump.json"});
  const Layout layout = pair("t", "g");
  EXPECT_EQ(pairs(layout),
            (Texts{"rank1 t/rank1/dump.json g/rank1/dump.json", "rank10 t/rank10/dump.json g/rank10/dump.json"}));
  ASSERT_EQ(layout.unpaired.size(), 2U);
  EXPECT_TRUE(layout.unpaired[0].in_target);
  EXPECT_EQ(layout.unpaired[0].path, at("t/rank0/dump.json"));
  EXPECT_FALSE(layout.unpaired[1].in_target);
  EXPECT_FALSE(layout.several_steps);
}

TEST_F(LayoutTest, ARankWithoutADumpIsReported) {
  files({"t/rank0/none.txt", "t/rank1/dump.json", "g/rank0/dump.json", "g/rank1/dump.json"});
  const Layout layout = pair("t", "g");
  EXPECT_EQ(pairs(layout).size(), 1U);
  ASSERT_EQ(layout.unpaired.size(), 2U);
  EXPECT_EQ(layout.unpaired[0].reason, "it holds no dump.json");
}

TEST_F(LayoutTest, ADumpThatMayNotBeLookedAtIsNotPassedOver) {
  files({"t/rank1/dump.json", "g/rank0/dump.json", "g/rank1/dump.json"});
  fs::create_directories(folder_ / "t/rank0");
  fs::create_symlink("dump.json", folder_ / "t/rank0/dump.json");  // a circle, since root may look at everything else
  const Layout layout = pair("t", "g");
  EXPECT_EQ(layout.pairs.size(), 2U);
  EXPECT_TRUE(layout.unpaired.empty());
}

TEST_F(LayoutTest, WhatWasNotAskedForIsNamedAsTheReason) {
  files({"t/step0/dump.json", "g/step0/dump.json", "r/step0/rank0/dump.json", "r/step0/rank2/dump.json"});
  const auto rest = [&](const char* side, const std::string& there) {
    return "'" + at(side) + "' holds no dump of the ranks and steps that were asked for, it has " + there +
           ": choose others, or leave the choice out.";
  };
  EXPECT_EQ(refusal("t", "g", {}, {{1, 2}}), rest("t", "step 0"));
  EXPECT_EQ(refusal("t/step0", "g/step0", {}, {{1, 2}}), rest("t/step0", "step 0")) << "a step folder by itself";
  EXPECT_EQ(refusal("r", "r", {{7, 7}}, {}), rest("r", "step 0 and rank 0, 2"));
  EXPECT_EQ(refusal("r/step0/rank2", "r/step0/rank2", {{7, 7}}, {}), rest("r/step0/rank2", "rank 2")) << "a rank folder";
  for (int rank = 0; rank < 12; ++rank) {
    files({"m/rank" + std::to_string(rank) + "/dump.json"});
  }
  EXPECT_EQ(refusal("m", "m", {{70, 70}}, {}), rest("m", "rank 0, 1, 2, 3, 4, 5, 6, 7, ..."));
}

// A choice that nothing goes by would be passed over in silence.
TEST_F(LayoutTest, RanksAndStepsThatNoDumpHasCannotBeChosen) {
  files({"t/step0/pid1/dump.json", "p/pid2/dump.json", "r/step0/rank0/dump.json", "r/step0/rank1/dump.json",
         "mixed/step0/rank0/dump.json", "mixed/step1/pid3/dump.json", "mixed/step2/rank1/dump.json"});
  EXPECT_EQ(
      refusal("t", "t", {{9, 9}}, {}),
      "no dump under '" + at("t") + "' and '" + at("t") + "' ('" + at("t/step0/pid1/dump.json") +
          "', ...) is of a known rank: ranks are chosen by their rank{N} folders, and there are none; leave the choice of "
          "ranks out.");
  EXPECT_NE(refusal("p/pid2/dump.json", "p", {{0, 0}}, {}).find("is of a known rank"), std::string::npos);
  EXPECT_NE(refusal("p", "p", {}, {{0, 0}}).find("is of a known step"), std::string::npos);
  EXPECT_THROW(find_dumps(at("t"), {{3, 3}}), Error);
  EXPECT_THROW(find_dumps(at("p"), {}, {{3, 3}}), Error);
  // One side has ranks: its choice belongs to the only dump of the other one.
  EXPECT_EQ(pairs(pair("t", "r", {{1, 1}})), (Texts{"pid1 t/step0/pid1/dump.json r/step0/rank1/dump.json"}));
  // Some dumps have ranks: those are chosen among, the others stay.
  EXPECT_EQ(pairs(pair("mixed", "mixed", {{1, 1}})), (Texts{"pid3 mixed/step1/pid3/dump.json mixed/step1/pid3/dump.json",
                                                            "rank1 mixed/step2/rank1/dump.json mixed/step2/rank1/dump.json"}));
  EXPECT_EQ(pairs(pair("r/step0/rank0", "r/step0/rank0", {{0, 0}}, {})).size(), 1U);
}

TEST_F(LayoutTest, LonePidsBelongTogether) {
  files({"t/pid11/dump.json", "g/pid22/dump.json", "p/proc3/dump.json"});
  EXPECT_EQ(pairs(pair("t", "g")), (Texts{"pid11 t/pid11/dump.json g/pid22/dump.json"}));
  EXPECT_EQ(pairs(pair("p", "g")), (Texts{"proc3 p/proc3/dump.json g/pid22/dump.json"}));
  EXPECT_EQ(pairs(pair("t/pid11", "g/pid22/dump.json")), (Texts{" t/pid11/dump.json g/pid22/dump.json"}));
}

TEST_F(LayoutTest, SeveralPidsNeedEqualNumbers) {
  files({"t/pid1/dump.json", "t/pid2/dump.json", "g/pid2/dump.json"});
  const Layout layout = pair("t", "g");
  EXPECT_EQ(pairs(layout), (Texts{"pid2 t/pid2/dump.json g/pid2/dump.json"}));
  EXPECT_EQ(layout.unpaired.size(), 1U);
}

TEST_F(LayoutTest, ARankFolderWithoutANumber) {
  files({"t/rank/dump.json", "g/rank/dump.json"});
  EXPECT_EQ(pairs(pair("t", "g")), (Texts{"rank t/rank/dump.json g/rank/dump.json"}));
}

TEST_F(LayoutTest, WholeDumpPaths) {
  files({"t/step0/rank0/dump.json", "t/step0/rank1/dump.json", "t/step10/rank0/dump.json", "t/step2/rank0/dump.json",
         "g/step0/rank0/dump.json", "g/step0/rank1/dump.json", "g/step10/rank0/dump.json", "g/step3/rank0/dump.json"});
  const Layout layout = pair("t", "g");
  EXPECT_EQ(pairs(layout), (Texts{"rank0 t/step0/rank0/dump.json g/step0/rank0/dump.json",
                                  "rank1 t/step0/rank1/dump.json g/step0/rank1/dump.json",
                                  "rank0 t/step10/rank0/dump.json g/step10/rank0/dump.json"}));
  EXPECT_EQ(layout.pairs[2].target.step, 10);
  EXPECT_TRUE(layout.several_steps);
  EXPECT_EQ(layout.unpaired.size(), 2U);
  EXPECT_EQ(pairs(pair("t", "g", {{1, 5}})), (Texts{"rank1 t/step0/rank1/dump.json g/step0/rank1/dump.json"}));
  EXPECT_EQ(pairs(pair("t", "g", {}, {{10, 10}})), (Texts{"rank0 t/step10/rank0/dump.json g/step10/rank0/dump.json"}));
  EXPECT_EQ(pairs(pair("t/step0", "g/step3")), (Texts{"rank0 t/step0/rank0/dump.json g/step3/rank0/dump.json"}));
}

TEST_F(LayoutTest, StepsOfDumpPathsArePairedByNumberAlone) {
  files({"t/step0/pid1/dump.json", "g/step1/pid1/dump.json"});
  EXPECT_THROW(pair("t", "g"), Error);
  EXPECT_EQ(pairs(pair("t/step0", "g")).size(), 1U);
}

TEST_F(LayoutTest, WhatIsNotThereIsAnError) {
  files({"t/dump.json", "g/rank0/dump.json", "g/rank1/dump.json"});
  EXPECT_THROW(pair("none", "g"), Error);
  fs::create_directories(folder_ / "empty");
  EXPECT_THROW(pair("t", "empty"), Error);
  EXPECT_THROW(pair("t", "g"), Error);  // one dump against two ranks
}

TEST_F(LayoutTest, FilesBesideADump) {
  files({"t/dump.json", "t/stack.json"});
  EXPECT_EQ(beside(at("t/dump.json"), "stack.json"), at("t/stack.json"));
  EXPECT_EQ(beside(at("t/dump.json"), "none.json"), "");
}

}  // namespace
}  // namespace msprobe::read

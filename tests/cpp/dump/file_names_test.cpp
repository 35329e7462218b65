// SPDX-License-Identifier: Apache-2.0
// Names of saved tensors: the original dumper's names where they can be had, safe and different ones elsewhere.
#include "dump/file_names.h"

#include <gtest/gtest.h>

#include <string>

namespace msprobe::dump {
namespace {

class FileNamesTest : public ::testing::Test {
 protected:
  FileName of(const std::string& tag, std::int64_t call = 0) { return names_.of(tags_[tags_.intern(tag)], call); }

  log::TagTable tags_;
  FileNames names_;
};

TEST_F(FileNamesTest, PlacesOfModulesAndApis) {
  EXPECT_EQ(of("m|Module.0.Linear|args|#0|^").name, "Module.0.Linear.forward.0.input.0.pt");
  EXPECT_EQ(of("m|Module.0.Linear|kwargs|.mask|", 3).name, "Module.0.Linear.forward.3.input.mask.pt");
  EXPECT_EQ(of("m|Module.0.Linear|out|#0|$").name, "Module.0.Linear.forward.0.output.0.pt");
  EXPECT_EQ(of("m|Module.0.Linear|out|#1/.logits/#2|$").name, "Module.0.Linear.forward.0.output.1.logits.2.pt");
  EXPECT_EQ(of("a|Aten.addmm|out|#0|$", 12).name, "Aten.addmm.12.forward.output.0.pt");
  EXPECT_EQ(of("a|Aten.addmm|out|#0|$").full, "");
}

TEST_F(FileNamesTest, OtherCharactersBecomeUnderscoresAndTheFullNameIsTold) {
  const FileName file = of("m|Module.a b%2Fc.X|kwargs|...%2F..%2Fetc%2Fpasswd|^");
  EXPECT_EQ(file.name, "Module.a_b_c.X.forward.0.input..._.._etc_passwd.pt");
  EXPECT_EQ(file.full, "Module.a b/c.X.forward.0.input.../../etc/passwd");
}

TEST_F(FileNamesTest, NamesThatBecomeAlikeAreKeptApart) {
  const std::string first = of("m|Module.x.X|kwargs|.a b|^").name;
  const std::string second = of("m|Module.x.X|kwargs|.a+b|").name;
  EXPECT_EQ(first, "Module.x.X.forward.0.input.a_b.pt");
  EXPECT_NE(second, first);
  EXPECT_EQ(of("m|Module.x.X|kwargs|.a b|").name, first) << "the marks of a tag do not matter";
  EXPECT_EQ(of("m|Module.x.X|kwargs|.a+b|").name, second);
  EXPECT_NE(of("m|Module.x.X|kwargs|.a+b|", 1).name, second);
  // A key with a dot against a nested key.
  EXPECT_NE(of("m|Module.x.X|out|.a.b|").name, of("m|Module.x.X|out|.a/.b|").name);
}

TEST_F(FileNamesTest, ThreePlacesWithOneFullNameHaveThreeFiles) {
  const std::string first = of("m|Module.x.X|args|#1/.a/.b|").name;
  const std::string second = of("m|Module.x.X|args|#1/.a.b|").name;
  const std::string third = of("m|Module.x.X|kwargs|.1.a.b|").name;
  EXPECT_EQ(first, "Module.x.X.forward.0.input.1.a.b.pt");
  EXPECT_NE(first, second);
  EXPECT_NE(first, third);
  EXPECT_NE(second, third);
}

TEST_F(FileNamesTest, LongNamesAreCutToDifferentOnesThatKeepBothEnds) {
  const std::string path(500, 'a');
  const FileName first = of("m|Module." + path + "x.Linear|args|#0|^");
  const FileName other = of("m|Module." + path + "y.Linear|args|#0|^");
  EXPECT_EQ(first.name.size(), kMaxFileName);
  EXPECT_NE(first.name, other.name);
  EXPECT_EQ(first.name.substr(0, 10), "Module.aaa");
  EXPECT_TRUE(first.name.ends_with("x.Linear.forward.0.input.0.pt"));
  EXPECT_EQ(first.full, "Module." + path + "x.Linear.forward.0.input.0");
}

}  // namespace
}  // namespace msprobe::dump

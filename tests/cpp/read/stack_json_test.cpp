// SPDX-License-Identifier: Apache-2.0
// stack.json in both of its forms.
#include "read/stack_json.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"

namespace msprobe::read {
namespace {

class StackJson : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "msprobe_stack_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  StackMap read(const std::string& text) const {
    const std::string path = folder_ / "stack.json";
    std::ofstream(path) << text;
    return read_stack(path);
  }
  std::filesystem::path folder_;
};

TEST_F(StackJson, ByOp) {
  const StackMap map = read(R"({"A.0.forward": ["File a.py, line 3", "it's"], "B.0.forward": [], "C.0.forward": "one line"})");
  EXPECT_EQ(map.find("A.0.forward"), R"(['File a.py, line 3', "it's"])");
  EXPECT_EQ(map.find("B.0.forward"), "[]");
  EXPECT_EQ(map.find("C.0.forward"), "['one line']");
  EXPECT_EQ(map.find("D"), "");
}

TEST_F(StackJson, ByGroups) {
  const StackMap map = read(R"({"0": [["A.0.forward", "B.0.forward"], ["File a.py"]], "1": [["C.0.forward"], ["File b.py"]]})");
  EXPECT_EQ(map.find("A.0.forward"), "['File a.py']");
  EXPECT_EQ(map.find("B.0.forward"), "['File a.py']");
  EXPECT_EQ(map.find("C.0.forward"), "['File b.py']");
}

TEST_F(StackJson, WhatIsNoneIsAnError) {
  EXPECT_THROW(read("[]"), Error);
  EXPECT_THROW(read("3"), Error);
  EXPECT_THROW(read(R"({"0": 3})"), Error);
  EXPECT_THROW(read(R"({"0": [["A"]]})"), Error);
  EXPECT_THROW(read(R"({"A": [)"), Error);
}

}  // namespace
}  // namespace msprobe::read

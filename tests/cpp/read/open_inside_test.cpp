// SPDX-License-Identifier: Apache-2.0
// Names inside a folder, with the kernel's check and without.
#include "read/open_inside.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "read/pt_builder.h"

namespace msprobe::read {
namespace {

namespace fs = std::filesystem;

class OpenInside : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.file("dump/deep"));
    static_cast<void>(folder_.write("dump/deep/x", "in"));
    static_cast<void>(folder_.write("outside", "out"));
    fs::create_symlink("../outside", folder_.file("dump/link"));
    fs::create_symlink(folder_.file("outside"), folder_.file("dump/absolute"));
    fs::create_directory_symlink("..", folder_.file("dump/up"));
    fs::create_symlink("loop", folder_.file("dump/loop"));
    fs::create_symlink("deep/x", folder_.file("dump/in"));
  }

  std::string opened(const std::string& name) const {
    try {
      const FileDescriptor file = detail::open_inside(folder_.file("dump"), name, GetParam());
      char text[8] = {};
      return {text, static_cast<std::size_t>(::read(file.get(), text, sizeof text))};
    } catch (const Error& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
};

TEST_P(OpenInside, WhatLiesInsideIsOpened) {
  for (const char* name : {"deep/x", "./deep/./x", "deep//x"}) {
    EXPECT_EQ(opened(name), "in") << name;
  }
}

TEST_P(OpenInside, WhatLiesOutsideIsNot) {
  for (const char* name :
       {"../outside", "deep/../../outside", "deep/../deep/x", "link", "absolute", "up/outside", "loop", "/etc/passwd"}) {
    EXPECT_NE(opened(name).find("it is not opened"), std::string::npos) << name << ": " << opened(name);
  }
  EXPECT_NE(opened("").find("must have a name"), std::string::npos);
  EXPECT_NE(opened(std::string("deep/x\0y", 8)).find("must not hold a zero byte"), std::string::npos);
}

TEST_P(OpenInside, OnlyRegularFilesAreOpened) {
  ASSERT_EQ(mkfifo(folder_.file("dump/pipe").c_str(), 0600), 0);
  EXPECT_NE(opened("pipe").find("must be a regular file, got a pipe"), std::string::npos)
      << opened("pipe");  // and does not wait
  EXPECT_NE(opened("deep").find("must be a regular file, got a folder"), std::string::npos) << opened("deep");
  EXPECT_NE(opened(".").find("must be a regular file, got a folder"), std::string::npos) << opened(".");
  EXPECT_NE(opened("none").find("No such file"), std::string::npos);
  EXPECT_NE(opened("deep/x/y").find("Not a directory"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Both, OpenInside, ::testing::Bool(), [](const auto& info) { return info.param ? "kernel" : "walk"; });

TEST(OpenInsideKernel, LinksThatStayInsideAreFollowed) {
  const TemporaryFolder folder;
  static_cast<void>(folder.write("x", "in"));
  fs::create_symlink("x", folder.file("link"));
  EXPECT_GE(open_inside(folder.path(), "link").get(), 0);
  EXPECT_THROW(detail::open_inside(folder.path(), "link", false), Error);
}

TEST(OpenInsideKernel, AMissingFolderIsTold) {
  try {
    open_inside("/nowhere", "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot open the folder '/nowhere': No such file or directory");
  }
}

}  // namespace
}  // namespace msprobe::read

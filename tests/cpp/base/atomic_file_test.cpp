// SPDX-License-Identifier: Apache-2.0
// Files appear whole or not at all; errors carry the path and errno's text.
#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"

namespace msprobe {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "msprobe_file_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(AtomicFileTest, IsInvisibleUntilCommit) {
  const fs::path path = folder_ / "a.json";
  AtomicFile file(path.string());
  file.write("hello ");
  file.write("world");
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(content(path), "hello world");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, LeavesNothingWithoutCommit) {
  {
    AtomicFile(std::string(folder_ / "a.json")).write("x");
  }
  EXPECT_EQ(files(), 0U);
}

TEST_F(AtomicFileTest, KeepsTheOldFileWithoutCommit) {
  const fs::path path = folder_ / "a.json";
  std::ofstream(path) << "old";
  {
    AtomicFile(path.string()).write("new");
  }
  EXPECT_EQ(content(path), "old");
  AtomicFile file(path.string());
  file.write("new");
  file.commit();
  EXPECT_EQ(content(path), "new");
}

TEST_F(AtomicFileTest, WritesMoreThanItsBuffer) {
  const fs::path path = folder_ / "big";
  std::string expected;
  AtomicFile file(path.string());
  for (int i = 0; i < 3000; ++i) {
    const std::string line(1000, static_cast<char>('a' + i % 26));
    file.write(line);
    expected += line;
  }
  const std::string huge(3U << 20U, 'z');
  file.write(huge);
  expected += huge;
  file.commit();
  EXPECT_EQ(content(path), expected);
}

TEST_F(AtomicFileTest, OverwritesItsFront) {
  for (const std::size_t size : {std::size_t{10}, std::size_t{3} << 20U}) {  // in the buffer still; on the disk for long
    const fs::path path = folder_ / std::to_string(size);
    AtomicFile file(path.string());
    file.write("head");
    file.write(std::string(size, 'x'));
    file.overwrite_front("HEA");
    file.write("tail");
    file.commit();
    EXPECT_EQ(content(path), "HEAd" + std::string(size, 'x') + "tail");
  }
}

TEST_F(AtomicFileTest, ATemporaryFolderGoesAway) {
  {
    const TemporaryFolder folder((folder_ / "a.xlsx").string());
    EXPECT_TRUE(fs::is_directory(folder.path()));
    EXPECT_EQ(folder.path().find((folder_ / "a.xlsx.tmp.").string()), 0U);
  }
  EXPECT_EQ(files(), 0U);
  EXPECT_THROW(TemporaryFolder((folder_ / "missing" / "a.xlsx").string()), FileError);
}

TEST_F(AtomicFileTest, TwoWritersOfOnePathDoNotMix) {
  const fs::path path = folder_ / "a";
  AtomicFile one(path.string());
  AtomicFile two(path.string());
  one.write("one");
  two.write("two");
  one.commit();
  EXPECT_EQ(content(path), "one");
  two.commit();
  EXPECT_EQ(content(path), "two");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, TellsAMissingFolder) {
  const std::string path = folder_ / "missing" / "a";
  try {
    AtomicFile file(path);
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_EQ(error.errno_value(), ENOENT);
    EXPECT_EQ(std::string(error.what()), "cannot create '" + path + "': No such file or directory");
  }
}

TEST_F(AtomicFileTest, LeavesNothingWhenTheRenameFails) {
  const fs::path path = folder_ / "target";
  fs::create_directory(path);
  AtomicFile file(path.string());
  file.write("x");
  try {
    file.commit();  // a folder stands where the file should go
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_EQ(error.errno_value(), EISDIR);
  }
  EXPECT_EQ(files(), 1U);  // the folder; no temporary file
}

TEST_F(AtomicFileTest, CreatesFolders) {
  const fs::path deep = folder_ / "a" / "b" / "c";
  create_folders(deep.string());
  EXPECT_TRUE(fs::is_directory(deep));
  create_folders(deep.string());  // again
  std::ofstream(folder_ / "file") << "x";
  try {
    create_folders((folder_ / "file" / "x").string());
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_EQ(error.errno_value(), ENOTDIR);
  }
}

TEST_F(AtomicFileTest, CommitNewReplacesNothing) {
  std::ofstream(folder_ / "a.b.csv") << "old";
  std::ofstream(folder_ / "a.b_1.csv") << "old";
  AtomicFile file((folder_ / "a.b.csv").string());
  file.write("new");
  EXPECT_EQ(file.commit_new(), (folder_ / "a.b_2.csv").string());
  EXPECT_EQ(content(folder_ / "a.b.csv"), "old");
  EXPECT_EQ(content(folder_ / "a.b_2.csv"), "new");
  EXPECT_EQ(files(), 3U);
}

TEST_F(AtomicFileTest, CommitNewOfAFreeName) {
  AtomicFile file((folder_ / "a").string());
  file.write("x");
  EXPECT_EQ(file.commit_new(), (folder_ / "a").string());
  AtomicFile other((folder_ / "a").string());
  EXPECT_EQ(other.commit_new(), (folder_ / "a_1").string());
  EXPECT_EQ(files(), 2U);
}

}  // namespace
}  // namespace msprobe

// SPDX-License-Identifier: Apache-2.0
// Small dumps whose whole tables are checked in: tables/NAME/{target,golden}.json and expected.csv, byte for byte.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compare/files_of_text.h"

namespace msprobe::compare {
namespace {

namespace fs = std::filesystem;

TEST_F(RunFixture, TablesAreThoseThatAreCheckedIn) {
  int tables = 0;
  for (const fs::directory_entry& folder : fs::directory_iterator(MSPROBE_TABLES)) {
    ++tables;
    Options some = options("", "");
    some.target = (folder.path() / "target" / "dump.json").string();
    some.golden = (folder.path() / "golden" / "dump.json").string();
    some.fuzzy = folder.path().filename() == "fuzzy";
    const Summary summary = run(some);
    ASSERT_EQ(summary.files.size(), 1U) << folder.path();
    EXPECT_EQ(content(summary.files[0]), content((folder.path() / "expected.csv").string())) << folder.path();
  }
  EXPECT_GE(tables, 4);
}

}  // namespace
}  // namespace msprobe::compare

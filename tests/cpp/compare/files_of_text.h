// SPDX-License-Identifier: Apache-2.0
// A temporary folder with dumps, and whole comparisons in it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compare/run.h"
#include "report/csv.h"

namespace msprobe::compare {

class RunFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "msprobe_run_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << text;
    return at(path);
  }
  std::string at(const std::string& path) const { return (folder_ / path).string(); }

  Options options(const std::string& target, const std::string& golden) const {
    Options options;
    options.target = at(target);
    options.golden = at(golden);
    options.output = at("out");
    options.formats = {{".csv", report::csv_writer}};
    options.timestamp = "20260102030405";
    options.threads = 2;
    return options;
  }

  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> names(const std::vector<std::string>& files) const {
    std::vector<std::string> all;
    for (const std::string& file : files) {
      all.push_back(std::filesystem::relative(file, folder_).string());
    }
    return all;
  }

  std::filesystem::path folder_;
};

}  // namespace msprobe::compare

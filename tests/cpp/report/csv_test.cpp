// SPDX-License-Identifier: Apache-2.0
// CSV: quotes only where they must be, and cells that no spreadsheet runs.
#include "report/csv.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "report/table_double.h"

namespace msprobe::report {
namespace {

namespace fs = std::filesystem;

std::string field(std::string_view text, bool is_number = false) {
  std::string out;
  append_csv_field(out, text, is_number);
  return out;
}

TEST(CsvField, QuotesWhereTheyMustBe) {
  EXPECT_EQ(field("plain text"), "plain text");
  EXPECT_EQ(field(""), "");
  EXPECT_EQ(field("[2, 8]"), "\"[2, 8]\"");
  EXPECT_EQ(field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(field("a\nb"), "\"a\nb\"");
}

TEST(CsvField, FormulasAreDisarmed) {
  EXPECT_EQ(field("=1+1"), "'=1+1");
  EXPECT_EQ(field("+x"), "'+x");
  EXPECT_EQ(field("-x"), "'-x");
  EXPECT_EQ(field("@x"), "'@x");
  EXPECT_EQ(field("\tx"), "'\tx");
  EXPECT_EQ(field("\rx"), "\"'\rx\"");
  EXPECT_EQ(field("\uFF1Dx"), "'\uFF1Dx");
  EXPECT_EQ(field("a;=b"), "a;'=b");
  EXPECT_EQ(field("a;b=c"), "a;b=c");
  EXPECT_EQ(field("=a,b"), "\"'=a,b\"");
}

TEST(CsvField, NumbersStayAsTheyAre) {
  EXPECT_EQ(field("-1.5", true), "-1.5");
  EXPECT_EQ(field("-inf", true), "-inf");
}

TEST(CsvWriter, WritesBlocksInOrderAndReplacesNothing) {
  std::string pattern = (fs::temp_directory_path() / "msprobe_csv_XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path folder = pattern;
  const compare::TableInfo table = small_table();
  for (const std::string name : {"a.csv", "a_1.csv"}) {
    const auto writer = csv_writer(table, (folder / "a.csv").string());
    for (const char* row : {"first", "second"}) {
      const TestBlock block(
          table, {{compare::Result::kPass,
                   {text_cell(row), real_cell("-1.5", -1.5), text_cell("N/A"), text_cell("pass"), text_cell("[\"a\"]")}}});
      writer->append(writer->encode(block));
    }
    EXPECT_EQ(writer->finish(), (folder / name).string());
    std::ifstream in(folder / name);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
              "NPU Name,Max diff,MaxRelativeErr,Result,Err_message\n"
              "first,-1.5,N/A,pass,\"[\"\"a\"\"]\"\nsecond,-1.5,N/A,pass,\"[\"\"a\"\"]\"\n");
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace msprobe::report

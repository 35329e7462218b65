// SPDX-License-Identifier: Apache-2.0
// Tables and paragraphs.
#include "report/layout_text.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "report/unicode.h"

namespace msprobe::report {
namespace {

TextTable small_table_of(const std::string& name) {
  TextTable table({{"result"}, {"error", true}, {"row", false, 8}});
  table.add({{"pass", Ink::kGreen}, {"0.5", Ink::kPlain}, {name, Ink::kPlain}});
  table.add({{"error", Ink::kRed}, {"12.25", Ink::kPlain}, {"b", Ink::kPlain}});
  return table;
}

TEST(TextTable, AlignsColumns) {
  std::string out;
  small_table_of("a").append_to(out, 100, false);
  EXPECT_EQ(out,
            "result  error  row\n"
            "pass      0.5  a\n"
            "error   12.25  b\n");
}

TEST(TextTable, MeasuresWideCharacters) {
  TextTable table({{"name"}, {"x"}});
  table.add({{"模块", Ink::kPlain}, {"1", Ink::kPlain}});
  table.add({{"abcd", Ink::kPlain}, {"2", Ink::kPlain}});
  std::string out;
  table.append_to(out, 100, false);
  EXPECT_EQ(out, "name  x\n模块  1\nabcd  2\n");
}

TEST(TextTable, ColumnsGiveWay) {
  const TextTable table = small_table_of(std::string(200, 'm') + "模块");
  std::string out;
  table.append_to(out, 40, false);
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), 40U) << line;
  }
  EXPECT_NE(out.find("模块"), std::string::npos);
}

TEST(TextTable, ColoursDoNotChangeTheLayout) {
  std::string plain;
  std::string coloured;
  small_table_of("a").append_to(plain, 100, false);
  small_table_of("a").append_to(coloured, 100, true);
  EXPECT_NE(coloured.find("\x1b[31m"), std::string::npos);
  for (std::size_t start = coloured.find('\x1b'); start != std::string::npos; start = coloured.find('\x1b')) {
    coloured.erase(start, coloured.find('m', start) - start + 1);
  }
  EXPECT_EQ(coloured, plain);
}

TEST(Wrapped, BreaksAtBlanksBehindItsLead) {
  std::string out;
  append_wrapped(out, "rank0", "one two three four", 7, 18);
  EXPECT_EQ(out, "rank0  one two\n       three four\n");
}

TEST(Wrapped, ALongWordStandsWholeOnItsOwnLine) {
  std::string out;
  append_wrapped(out, "", "at Module.layers.0.attention now", 0, 12);
  EXPECT_EQ(out, "at\nModule.layers.0.attention\nnow\n");
}

TEST(Grouped, ByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567890), "1,234,567,890");
}

}  // namespace
}  // namespace msprobe::report

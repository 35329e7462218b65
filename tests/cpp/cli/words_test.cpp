// SPDX-License-Identifier: Apache-2.0
// Command lines: spellings of options, their values, and what is said of wrong ones.
#include "cli/words.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/error.h"
#include "cli/compare_options.h"
#include "cli/help.h"
#include "cli/terminal.h"
#include "report/unicode.h"

namespace msprobe::cli {
namespace {

using compare::Result;

CompareCommand parse(Words words) {
  words.insert(words.begin(), {"-tp", "t", "-gp", "g"});
  return parse_compare(words);
}

std::string error_of(const Words& words) {
  try {
    parse_compare(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string wrong(Words words) {
  words.insert(words.begin(), {"-tp", "t", "-gp", "g"});
  return error_of(words);
}

TEST(Words, ShortNamesOfSeveralLettersAndDashes) {
  const ShortNames names = {{"-tp", "--target_path"}};
  EXPECT_EQ(with_long_names({"-tp", "-x", "-tp=a-b=c", "--data-mapping=a-b", "--cell-mapping", "-o", "a--b"}, names),
            (Words{"--target_path", "-x", "--target_path=a-b=c", "--data_mapping=a-b", "--cell_mapping", "-o", "a--b"}));
}

TEST(Words, OneLetterAndItsValueBehindAnEqualsSign) {
  EXPECT_EQ(with_long_names({"-o=out", "-o=a=b", "-o==a", "-o=", "-o", "=a", "-"}, {}),
            (Words{"-oout", "-oa=b", "-o=a", "-o", "-o", "=a", "-"}));
  for (const Words& words : {Words{"-o=some folder"}, Words{"-o", "some folder"}, Words{"--output-path=some folder"}}) {
    EXPECT_EQ(parse(words).options.output, "some folder");
  }
  EXPECT_EQ(parse({"-o=-dashed"}).options.output, "-dashed");
  EXPECT_NE(wrong({"-o="}), "no error");
}

TEST(CompareOptions, Defaults) {
  const CompareCommand command = parse({});
  EXPECT_EQ(command.options.target, "t");
  EXPECT_EQ(command.options.golden, "g");
  EXPECT_EQ(command.options.output, "./output");
  ASSERT_EQ(command.options.formats.size(), 1U);
  EXPECT_EQ(command.options.formats[0].extension, ".csv");
  EXPECT_TRUE(command.fail_on.empty());
  EXPECT_FALSE(command.options.fuzzy || command.options.cell_mapping || command.options.diff_analyze || command.quiet);
  EXPECT_TRUE(command.options.ranks.empty());
}

TEST(CompareOptions, EverySpelling) {
  for (const Words& words :
       {Words{"-tp", "a b", "-gp", "g"}, Words{"-tp=a b", "-gp=g"}, Words{"--target_path", "a b", "--golden_path=g"},
        Words{"--target-path=a b", "--golden-path", "g"}}) {
    EXPECT_EQ(parse_compare(words).options.target, "a b");
    EXPECT_EQ(parse_compare(words).options.golden, "g");
  }
}

TEST(CompareOptions, CellMappingWithAndWithoutItsFile) {
  EXPECT_TRUE(parse({"-cm"}).options.cell_mapping);
  EXPECT_EQ(parse({"-cm"}).options.cell_map, "");
  EXPECT_TRUE(parse({"-cm", "-fm"}).options.fuzzy);
  EXPECT_EQ(parse({"-cm", "m.yaml", "-fm"}).options.cell_map, "m.yaml");
  EXPECT_EQ(parse({"-cm=m.yaml"}).options.cell_map, "m.yaml");
  EXPECT_FALSE(parse({"-dm", "m.yaml"}).options.cell_mapping);
  EXPECT_EQ(parse({"-dm", "m.yaml"}).options.data_map, "m.yaml");
}

TEST(CompareOptions, RanksAndSteps) {
  EXPECT_EQ(parse({"--rank", "0,4-7"}).options.ranks, (read::NumberRanges{{0, 0}, {4, 7}}));
  EXPECT_EQ(parse({"--rank", "0", "2", "--rank=3"}).options.ranks, (read::NumberRanges{{0, 0}, {2, 2}, {3, 3}}));
  EXPECT_EQ(parse({"--step", "12"}).options.steps, (read::NumberRanges{{12, 12}}));
  for (const char* text : {"x", "1-", "-1", "3-2", "1,,2", "1.5", "", "99999999999999999999"}) {
    EXPECT_NE(wrong({std::string("--rank=") + text}), "no error") << text;
  }
  EXPECT_EQ(wrong({"--rank=3-2"}), "--rank must be numbers and ranges such as 0,4-7, got '3-2'");
}

TEST(CompareOptions, Formats) {
  const auto extensions = [](const Words& words) {
    std::string all;
    for (const compare::OutputFormat& format : parse(words).options.formats) {
      all += format.extension;
    }
    return all;
  };
  EXPECT_EQ(extensions({"--xlsx"}), ".xlsx");
  EXPECT_EQ(extensions({"--format", "csv,parquet", "--xlsx"}), ".csv.parquet.xlsx");
  EXPECT_EQ(extensions({"--format", "jsonl", "csv", "--format", "jsonl"}), ".jsonl.csv");
  EXPECT_EQ(extensions({"--html"}), ".csv");
  EXPECT_EQ(extensions({"--format", "html"}), "");
  EXPECT_EQ(parse({"--html"}).options.whole_formats.size(), 1U);
  EXPECT_EQ(parse({"--format", "html,csv", "--html"}).options.whole_formats.size(), 1U);
  EXPECT_EQ(wrong({"--format", "ods"}), "--format must be of csv, xlsx, parquet, jsonl and html, got 'ods'");
}

TEST(CompareOptions, FailOn) {
  EXPECT_EQ(parse({"--fail-on", "error"}).fail_on, (std::set{Result::kError}));
  EXPECT_EQ(parse({"--fail-on", "warning,unmatched"}).fail_on,
            (std::set{Result::kWarning, Result::kError, Result::kUnmatched}));
  EXPECT_TRUE(parse({"--fail_on=never"}).fail_on.empty());
  EXPECT_EQ(wrong({"--fail-on", "all"}), "--fail-on must be of error, warning, unmatched and never, got 'all'");
}

TEST(CompareOptions, Numbers) {
  const CompareCommand command = parse({"--rtol", "1e-3", "--atol=0", "--threads", "3"});
  EXPECT_EQ(command.options.tolerance.rtol, 1e-3);
  EXPECT_EQ(command.options.tolerance.atol, 0);
  EXPECT_EQ(command.options.threads, 3);
  EXPECT_EQ(wrong({"--rtol=-1"}), "--rtol must be a number that is not negative, such as 1e-3, got '-1'");
  EXPECT_EQ(wrong({"--atol", "inf"}), "--atol must be a number that is not negative, such as 1e-3, got 'inf'");
  EXPECT_EQ(wrong({"--threads", "0"}), "--threads must be a number from 1 to 1024, got '0'");
}

TEST(CompareOptions, WrongWordsAreNamed) {
  EXPECT_EQ(error_of({"-gp", "g"}), "--target_path is required");
  EXPECT_EQ(error_of({"--target", "t", "-gp", "g"}), "there is no option '--target'");
  EXPECT_EQ(wrong({"more"}), "'more' stands behind no option that takes it");
  EXPECT_EQ(wrong({"-dm"}), "--data_mapping needs a value behind it");
  EXPECT_EQ(wrong({"-tp", "again"}), "--target_path may be given once only");
  EXPECT_EQ(wrong({"-m", "auto"}), "there is no option '-m'");
}

TEST(Help, FitsATerminalAndNamesEveryOption) {
  for (const std::string_view help : {program_help(), compare_help(), merge_help()}) {
    for (std::size_t start = 0; start < help.size();) {
      const std::size_t end = help.find('\n', start);
      EXPECT_LE(report::display_width(help.substr(start, end - start)), 100U) << help.substr(start, end - start);
      start = end + 1;
    }
  }
  for (const char* option :
       {"-tp",       "--target_path",  "-gp",    "--golden_path",  "-o",     "--output_path",  "-fm",       "--fuzzy_match",
        "-dm",       "--data_mapping", "-cm",    "--cell_mapping", "-da",    "--diff_analyze", "--rank",    "--step",
        "--fail-on", "--format",       "--xlsx", "--rtol",         "--atol", "--quiet",        "--threads", "--hints"}) {
    EXPECT_NE(compare_help().find(option), std::string_view::npos) << option;
  }
}

TEST(Bar, ShowsTheShareAndFits) {
  EXPECT_EQ(bar_text(0.5, "rank 3: reading", 80), "[###############               ]  50 % rank 3: reading");
  EXPECT_EQ(bar_text(7, "", 80), "[##############################] 100 % ");
  EXPECT_EQ(bar_text(std::numeric_limits<double>::quiet_NaN(), "", 80), "[                              ]   0 % ");
  EXPECT_LE(report::display_width(bar_text(0.5, "模块模块模块模块模块模块模块", 45)), 45U);
}

}  // namespace
}  // namespace msprobe::cli

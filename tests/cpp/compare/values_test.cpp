// SPDX-License-Identifier: Apache-2.0
// Differences and relative errors by class of value, and how numbers are printed.
#include "compare/values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "compare/dumps_of_text.h"

namespace msprobe::compare {
namespace {

struct Case {
  const char* target;  // JSON of the statistic; "" leaves it out
  const char* golden;
  const char* difference;
  const char* relative;
};

class Pair : public ::testing::TestWithParam<Case> {};

// The norm's columns, for a row that is alike in all else.
TEST_P(Pair, DifferenceAndRelativeError) {
  const Case& pair = GetParam();
  const TextTable table = compare_entries(entry("Torch.add.0.forward", {}, {norm_of(pair.target).json()}),
                                          entry("Torch.add.0.forward", {}, {norm_of(pair.golden).json()}));
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(at(table, 0, "L2norm diff"), pair.difference);
  EXPECT_EQ(at(table, 0, "NormRelativeErr"), pair.relative);
  EXPECT_EQ(at(table, 0, "Max diff"), "0");
  EXPECT_EQ(at(table, 0, "MaxRelativeErr"), "0");
}

INSTANTIATE_TEST_SUITE_P(Equal, Pair,
                         ::testing::Values(Case{"4.0", "4.0", "0", "0"}, Case{"5", "5.0", "0", "0"},
                                           Case{"0.0", "-0.0", "0", "0"}, Case{"NaN", "NaN", "0", "0"},
                                           Case{"Infinity", "Infinity", "0", "0"}, Case{"-Infinity", "-Infinity", "0", "0"},
                                           Case{"null", "null", "0", "0"}, Case{"true", "true", "0", "0"},
                                           Case{"\"abc\"", "\"abc\"", "0", "0"}, Case{"\"1.5\"", "1.5", "0", "0"},
                                           Case{"\"nan\"", "NaN", "0", "0"}, Case{"", "null", "0", "0"},
                                           Case{"\"N/A\"", "\"N/A\"", "0", "0"}, Case{"\"-Inf\"", "-Infinity", "0", "0"}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, Pair,
    ::testing::Values(Case{"3.0", "2.0", "1.0", "50.0%"}, Case{"3", "2", "1.0", "50.0%"}, Case{"-1.0", "2.0", "-3.0", "150.0%"},
                      Case{"1.0", "3.0", "-2.0", "66.66666666666666%"}, Case{"1.0", "0.0", "1.0", "inf"},
                      Case{"1.0", "-0.0", "1.0", "inf"}, Case{"1e300", "1e-300", "1e+300", "inf%"},
                      Case{"1.00001", "1.0", "1.0000000000065512e-05", "0.0010000000000065512%"},
                      Case{"9007199254740993", "9007199254740992", "1.0", "1.1102230246251565e-14%"},
                      Case{"18446744073709551615", "18446744073709551614", "1.0", "5.421010862427522e-18%"},
                      Case{"\"2.5\"", "2.0", "0.5", "25.0%"}, Case{"\"1e999\"", "1.0", "inf", "inf"}));

INSTANTIATE_TEST_SUITE_P(Classes, Pair,
                         ::testing::Values(Case{"1.0", "NaN", "Nan", "Nan"}, Case{"NaN", "1.0", "Nan", "Nan"},
                                           Case{"NaN", "Infinity", "Nan", "Nan"}, Case{"-Infinity", "NaN", "Nan", "Nan"},
                                           Case{"1.0", "Infinity", "-inf", "inf"}, Case{"1.0", "-Infinity", "inf", "inf"},
                                           Case{"Infinity", "1.0", "inf", "inf"}, Case{"-Infinity", "1.0", "-inf", "inf"},
                                           Case{"Infinity", "-Infinity", "inf", "inf"},
                                           Case{"-Infinity", "Infinity", "-inf", "inf"}, Case{"null", "1.0", "Diff", "Diff"},
                                           Case{"1.0", "", "Diff", "Diff"}, Case{"true", "1.0", "Diff", "Diff"},
                                           Case{"true", "false", "Diff", "Diff"}, Case{"\"a\"", "\"b\"", "Diff", "Diff"},
                                           Case{"\"cuda:0\"", "1.0", "Diff", "Diff"},
                                           Case{"\"cuda:0\"", "\"npu:0\"", "N/A", "N/A"}, Case{"\"N/A\"", "1.0", "N/A", "N/A"},
                                           Case{"\"Infinity\"", "1.0", "inf", "inf"}));

std::string printed(const read::Number& number) {
  std::string text;
  append_statistic(text, number);
  return text;
}

read::Number real(double value) { return {read::NumberKind::kReal, 0, 0, value, {}}; }

TEST(Statistic, IsPrintedByItsOwnKind) {
  EXPECT_EQ(printed(real(5)), "5.0");
  EXPECT_EQ(printed({read::NumberKind::kInteger, 5, 0, 0, {}}), "5");
  EXPECT_EQ(printed({read::NumberKind::kUnsigned, 0, 18446744073709551615ULL, 0, {}}), "18446744073709551615");
  EXPECT_EQ(printed(real(std::numeric_limits<double>::infinity())), " inf");
  EXPECT_EQ(printed(real(-std::numeric_limits<double>::infinity())), " -inf");
  EXPECT_EQ(printed(real(std::nan(""))), "Nan");
  EXPECT_EQ(printed({read::NumberKind::kText, 0, 0, 0, "inf"}), "inf");
  EXPECT_EQ(printed({read::NumberKind::kText, 0, 0, 0, "NAN"}), "Nan");
  EXPECT_EQ(printed({read::NumberKind::kNull, 0, 0, 0, {}}), "None");
  EXPECT_EQ(printed({}), "None");
  EXPECT_EQ(printed({read::NumberKind::kTrue, 0, 0, 0, {}}), "True");
  EXPECT_EQ(printed({read::NumberKind::kFalse, 0, 0, 0, {}}), "False");
}

}  // namespace
}  // namespace msprobe::compare

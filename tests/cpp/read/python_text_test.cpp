// SPDX-License-Identifier: Apache-2.0
// Texts that Python printed: repr() of floats, ints and strings.
#include "read/python_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "read/checksum.h"

namespace msprobe::read {
namespace {

std::string printed(double value) {
  std::string text;
  append_python_float(text, value);
  return text;
}

TEST(PythonText, Floats) {
  EXPECT_EQ(printed(0), "0.0");
  EXPECT_EQ(printed(-0.0), "-0.0");
  EXPECT_EQ(printed(1), "1.0");
  EXPECT_EQ(printed(-1.5), "-1.5");
  EXPECT_EQ(printed(0.1), "0.1");
  EXPECT_EQ(printed(0.30000000000000004), "0.30000000000000004");
  EXPECT_EQ(printed(0.0001), "0.0001");
  EXPECT_EQ(printed(0.00012), "0.00012");
  EXPECT_EQ(printed(0.00001), "1e-05");
  EXPECT_EQ(printed(1.5e-7), "1.5e-07");
  EXPECT_EQ(printed(123456), "123456.0");
  EXPECT_EQ(printed(1e15), "1000000000000000.0");
  EXPECT_EQ(printed(1e16), "1e+16");
  EXPECT_EQ(printed(1.25e16), "1.25e+16");
  EXPECT_EQ(printed(3e40), "3e+40");
  EXPECT_EQ(printed(1e100), "1e+100");
  EXPECT_EQ(printed(123456789.123), "123456789.123");
  EXPECT_EQ(printed(5e-324), "5e-324");
  EXPECT_EQ(printed(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(printed(9007199254740993), "9007199254740992.0");
  EXPECT_EQ(printed(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(printed(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(PythonText, FloatsReadBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (value == value) {
      EXPECT_EQ(std::strtod(printed(value).c_str(), nullptr), value);
    }
  }
}

TEST(PythonText, Strings) {
  const auto quoted = [](std::string_view text) {
    std::string out;
    append_python_string(out, text);
    return out;
  };
  EXPECT_EQ(quoted("a"), "'a'");
  EXPECT_EQ(quoted("it's"), "\"it's\"");
  EXPECT_EQ(quoted("it's \"x\""), R"('it\'s "x"')");
  EXPECT_EQ(quoted("a\\b\n\t\r\x01"), R"('a\\b\n\t\r\x01')");
}

TEST(Checksum, IsThatOfZlib) {
  EXPECT_EQ(crc32_hex("1"), "83dcefb7");
  EXPECT_EQ(crc32_hex(""), "00000000");
  EXPECT_EQ(crc32_hex("123456789"), "cbf43926");
}

}  // namespace
}  // namespace msprobe::read

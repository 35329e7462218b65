// SPDX-License-Identifier: Apache-2.0
// JSON text, read back by a parser that is not ours.
#include "dump/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace msprobe::dump {
namespace {

std::string written(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string written(double value) {
  std::string out;
  append_json_number(out, value);
  return out;
}

TEST(JsonString, EveryAsciiCharacterComesBack) {
  std::string all;
  for (int c = 0; c < 128; ++c) {
    all += static_cast<char>(c);
  }
  EXPECT_EQ(nlohmann::json::parse(written(all)).get<std::string>(), all);
}

TEST(JsonString, Utf8ComesBack) {
  const std::string text = "Модуль.模块.\U0001F600.\u07FF\u0800\uFFFD";
  EXPECT_EQ(nlohmann::json::parse(written(text)).get<std::string>(), text);
}

TEST(JsonString, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(written(std::string("a\xFF") + "b"), "\"a" + replacement + "b\"");
  EXPECT_EQ(written("\xC0\x80"), "\"" + replacement + replacement + "\"");                    // overlong
  EXPECT_EQ(written("\xED\xA0\x80"), "\"" + replacement + replacement + replacement + "\"");  // surrogate
  EXPECT_EQ(written("\xF4\x90\x80\x80"), "\"" + replacement + replacement + replacement + replacement + "\"");
  EXPECT_EQ(written("\xE4\xB8"), "\"" + replacement + replacement + "\"");  // cut off
}

TEST(JsonString, AnyBytesGiveValidJson) {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    EXPECT_TRUE(nlohmann::json::accept(written(bytes)));
  }
}

TEST(JsonNumber, IsTheShortestThatComesBack) {
  EXPECT_EQ(written(0.0), "0.0");
  EXPECT_EQ(written(-0.0), "-0.0");
  EXPECT_EQ(written(1.0), "1.0");
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(1e300), "1e+300");
  EXPECT_EQ(written(static_cast<double>(0.1F)), "0.10000000149011612");
  EXPECT_EQ(written(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(JsonNumber, RandomDoublesComeBackToTheBit) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) {
      const auto parsed = nlohmann::json::parse(written(value));
      EXPECT_TRUE(parsed.is_number_float());
      EXPECT_EQ(parsed.get<double>(), value);
    }
  }
}

TEST(JsonNumber, IntegersAreExact) {
  std::string out;
  append_json_number(out, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(out, "-9223372036854775808");
  out.clear();
  append_json_number(out, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(out, "18446744073709551615");
}

}  // namespace
}  // namespace msprobe::dump

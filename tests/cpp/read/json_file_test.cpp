// SPDX-License-Identifier: Apache-2.0
// Broken files: byte and line of the fault, and no crash whatever is in them.
#include "read/json_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "read/dump_reader.h"

namespace msprobe::read {
namespace {

class Nothing : public JsonHandler {
 public:
  void null() override { ++events; }
  void boolean(bool /*value*/) override { ++events; }
  void number(std::string_view text) override { last = text; }
  void string(std::string_view text) override { last = text; }
  void key(std::string_view /*text*/) override { ++events; }
  void open_object() override { ++events; }
  void open_list() override { ++events; }
  void close_object() override { ++events; }
  void close_list() override { ++events; }
  int events = 0;
  std::string last;
};

std::string error_of(const std::string& text) {
  Nothing handler;
  try {
    return parse_json_text(text, "a.json", handler, LargeNumbers::kStop) ? "" : "stopped";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(JsonFile, TellsByteAndLine) {
  EXPECT_EQ(error_of("{\n \"a\": 1,\n \"b\": x}"),
            "'a.json' is broken JSON at byte 17 (line 3, column 7): Invalid value. Repair the file or take the dump again.");
  EXPECT_NE(error_of("{\"a\": 1").find("ends in the middle, at byte 7 (line 1, column 8)"), std::string::npos);
  EXPECT_NE(error_of("").find("ends in the middle, at byte 0"), std::string::npos);
  EXPECT_NE(error_of("{} {}").find("broken JSON at byte 3"), std::string::npos);
  EXPECT_NE(error_of("{'a': 1}").find("broken JSON at byte 1"), std::string::npos);
  EXPECT_NE(error_of("[1, 2,]").find("broken JSON"), std::string::npos);
  EXPECT_EQ(error_of("[1e999]"), "stopped");
  EXPECT_NE(error_of(std::string("[\"a\0b\"]", 7)).find("broken JSON"), std::string::npos);
}

TEST(JsonFile, DepthBombsAreErrors) {
  EXPECT_EQ(error_of(std::string(900, '[') + std::string(900, ']')), "");
  EXPECT_NE(error_of(std::string(2000000, '[')).find("nested deeper than 1,000 levels at byte"), std::string::npos);
  std::string objects;
  for (int i = 0; i < 100000; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_NE(error_of(objects).find("nested deeper"), std::string::npos);
}

TEST(JsonFile, NumbersKeepTheirText) {
  Nothing handler;
  for (const std::string text : {"1", "-0", "1.50", "1e5", "NaN", "Infinity", "-Infinity", "123456789012345678901234567890"}) {
    parse_json_text(text, "a.json", handler, LargeNumbers::kStop);
    EXPECT_EQ(handler.last, text);
  }
}

TEST(JsonFile, NumbersBeyondFloat64AreInfinitiesIfAskedFor) {
  const std::string digits(400, '1');
  const auto read = [](const std::string& text) {
    Nothing handler;
    EXPECT_TRUE(parse_json_text(text, "a.json", handler, LargeNumbers::kAsInfinity)) << text;
    return handler.last;
  };
  for (const std::string& text : {std::string("1e999"), digits, digits + ".5", "[\"a\\\"1e999\", " + digits + "e5]"}) {
    Nothing handler;
    EXPECT_FALSE(parse_json_text(text, "a.json", handler, LargeNumbers::kStop)) << text;
    EXPECT_EQ(read(text), "Infinity") << text;
  }
  EXPECT_EQ(read("[1, -1e999]"), "-Infinity");
  EXPECT_EQ(read("-1" + digits), "-Infinity");
  EXPECT_EQ(read("0e999"), "0.0");
  EXPECT_EQ(read("-0.0E+999"), "-0.0");
  EXPECT_EQ(read("1" + std::string(400, '0') + "e-390"), "1e+10");
  EXPECT_EQ(read("1." + std::string(400, '0')), "1.0");
  EXPECT_EQ(read(R"({"1e999": "-1e999"})"), "-1e999");
  for (const std::string text : {"1", "-0", "1.50", "1e5", "NaN", "Infinity", "-Infinity", "123456789012345678901234567890"}) {
    EXPECT_EQ(read("[1e999, " + text + "]"), text);
  }
  for (const std::string text :
       {"[01e999]", "[1e999, 1.e5]", "[1e]", "[-]", "[1e999 x]", "[1e999", "[1.5.5e999]", "[1e999.5]"}) {
    Nothing handler;
    EXPECT_THROW(parse_json_text(text, "a.json", handler, LargeNumbers::kAsInfinity), Error) << text;
  }
}

TEST(JsonFile, ByteOrderMarkIsSkipped) {
  Nothing handler;
  parse_json_text("\xEF\xBB\xBF{}", "a.json", handler, LargeNumbers::kStop);
  EXPECT_EQ(handler.events, 2);
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "msprobe_json_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text) const {
    const std::string path = folder_ / "a.json";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(Files, LongerThanTheWindow) {
  std::string text = "[\"";
  text += std::string(3000000, 'x');
  text += "\",\n";
  for (int i = 0; i < 200000; ++i) {
    text += "12345,\n";
  }
  Nothing handler;
  std::uint64_t told = 0;
  const std::string good = write(text + "7]");
  EXPECT_EQ(parse_json_file(good, handler, LargeNumbers::kStop, [&](std::uint64_t bytes) { told += bytes; }),
            std::filesystem::file_size(good));
  EXPECT_EQ(handler.last, "7");
  EXPECT_EQ(told, std::filesystem::file_size(good));
  try {
    parse_json_file(write(text + "x]"), handler, LargeNumbers::kStop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("(line 200002, column 1)"), std::string::npos) << error.what();
  }
}

TEST_F(Files, AnEndlessTextIsAnError) {
  const std::string path = write("[\"");
  std::filesystem::resize_file(path, 0);
  std::ofstream out(path, std::ios::binary);
  out << "[\"";
  const std::string piece(1U << 20U, 'x');
  for (int i = 0; i < 70; ++i) {
    out << piece;
  }
  out.close();
  Nothing handler;
  try {
    parse_json_file(path, handler, LargeNumbers::kStop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("more than 64 MiB"), std::string::npos) << error.what();
  }
}

TEST_F(Files, WhatCannotBeReadIsAnError) {
  EXPECT_THROW(read_dump(folder_ / "none.json"), Error);
  EXPECT_THROW(read_dump(folder_), Error);
}

}  // namespace
}  // namespace msprobe::read

// SPDX-License-Identifier: Apache-2.0
// Maps of names: what is one, and what is an error with its line.
#include "read/yaml_map.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace msprobe::read {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_yaml_map(text, "map.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(YamlMap, PairsInTheOrderOfTheFile) {
  const YamlMap map = parse_yaml_map("# names\nb.0.forward: a.0.forward\n\"a\": 'c'\n1: 2\nb.0.forward: d\n", "map.yaml");
  EXPECT_EQ(map, (YamlMap{{"b.0.forward", "d"}, {"a", "c"}, {"1", "2"}}));
}

TEST(YamlMap, FlowStyle) { EXPECT_EQ(parse_yaml_map("{a: b, c: d}", "map.yaml"), (YamlMap{{"a", "b"}, {"c", "d"}})); }

TEST(YamlMap, Errors) {
  EXPECT_EQ(error_of(""), "'map.yaml' is empty: it must hold lines of the form 'name of target: name of golden'.");
  EXPECT_EQ(error_of("# nothing\n"), "'map.yaml' is empty: it must hold lines of the form 'name of target: name of golden'.");
  EXPECT_EQ(error_of("{}"), "'map.yaml' is empty: it must hold lines of the form 'name of target: name of golden'.");
  EXPECT_NE(error_of("- a\n- b\n").find("line 1 begins a list"), std::string::npos);
  EXPECT_NE(error_of("just text").find("line 1 begins a text"), std::string::npos);
  EXPECT_NE(error_of("a: b\nc: [d, e]\n").find("line 2: the value of 'c' is a list"), std::string::npos);
  EXPECT_NE(error_of("a: b\nc:\n  d: e\n").find("line 3: the value of 'c' is a mapping"), std::string::npos);
  EXPECT_NE(error_of("a: &x b\nc: *x\n").find("line 2: the value of 'c' is an alias"), std::string::npos);
  EXPECT_NE(error_of("[a]: b\n").find("line 1: a key is a list"), std::string::npos);
  EXPECT_NE(error_of("a: b\n\tc: d\n").find("broken YAML at line 2"), std::string::npos);
  EXPECT_NE(error_of("a: b\n---\nc: d\n").find("second document"), std::string::npos);
  EXPECT_NE(error_of("a: \"b").find("broken YAML"), std::string::npos);
  EXPECT_NE(error_of("a: \xff\xfe").find("broken YAML"), std::string::npos);
}

TEST(YamlMap, BombsAndNestingAreErrors) {
  std::string bomb = "a: &a [x]\n";
  for (char c = 'b'; c < 'z'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + "]\n";
  }
  EXPECT_NE(error_of(bomb), "");
  EXPECT_NE(error_of(std::string(100000, '[')), "");
  EXPECT_NE(error_of(std::string(100000, '{')), "");
}

TEST(YamlMap, TheNameMustEndWithYaml) { EXPECT_THROW(read_yaml_map("/tmp/map.txt"), Error); }

}  // namespace
}  // namespace msprobe::read

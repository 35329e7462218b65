// SPDX-License-Identifier: Apache-2.0
// Widths, cuts and replacements.
#include "report/unicode.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace msprobe::report {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

TEST(DisplayWidth, ChineseCharactersTakeTwoColumnsAndCombiningOnesNone) {
  EXPECT_EQ(display_width("Linear"), 6U);
  EXPECT_EQ(display_width("模块.线性"), 9U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e and a combining acute
  EXPECT_EQ(display_width("\xF0\x9F\x98\x80"), 2U);
  EXPECT_EQ(display_width("\xFF\t"), 2U);  // each is shown as one replacement character
}

TEST(Fit, KeepsBothEndsAndNeverExceedsTheWidth) {
  EXPECT_EQ(fit("short", 10), "short");
  EXPECT_EQ(fit("Module.layers.0.attention.output", 12), "Mod\xE2\x80\xA6n.output");
  EXPECT_EQ(fit("abc", 1), "\xE2\x80\xA6");
  for (std::size_t width = 1; width < 20; ++width) {
    EXPECT_LE(display_width(fit("模块模块模块a模块模块", width)), width);
    EXPECT_EQ(display_width(fit_left("模块模块模块a模块模块", width)), width);
    EXPECT_EQ(display_width(fit_right("模块", width)), width);
  }
}

TEST(Fit, LetsNoControlCharacterThrough) {
  EXPECT_EQ(fit("a\x1b[2Jb\n", 20), std::string("a") + kReplacement + "[2Jb" + kReplacement);
  EXPECT_EQ(fit("\xC2\x9B"
                "1m",
                20),
            std::string(kReplacement) + "1m");  // the one-character form of ESC [
}

TEST(ValidUtf8, LeavesGoodTextAloneAndReplacesByteByByte) {
  std::string storage;
  const std::string good = "模块.é.a";
  EXPECT_EQ(valid_utf8(good, storage).data(), good.data());
  EXPECT_EQ(valid_utf8("a\xFF模\xE6\xA8", storage), std::string("a") + kReplacement + "模" + kReplacement + kReplacement);
}

TEST(ValidUtf8, AnyBytesBecomeUtf8) {
  std::mt19937 random(3);
  std::string storage;
  std::string again;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 9, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    const std::string valid(valid_utf8(bytes, storage));
    EXPECT_EQ(valid_utf8(valid, again), valid);
    (void)fit(bytes, 4);
  }
}

TEST(Utf8Prefix, CutsBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("模块", 6), "模块");
  EXPECT_EQ(utf8_prefix("模块", 5), "模");
  EXPECT_EQ(utf8_prefix("模块", 2), "");
}

}  // namespace
}  // namespace msprobe::report

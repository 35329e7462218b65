// SPDX-License-Identifier: Apache-2.0
// What a page carries: base64, zlib streams, columns of rows, markup that never gets in. Pages in a browser: tests/python/page.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/base64.h"
#include "report/deflate.h"
#include "report/page_file.h"
#include "report/page_rows.h"

namespace msprobe::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string base64(std::string_view bytes) {
  std::string text;
  append_base64(text, bytes);
  return text;
}

// By zlib, which did not write it.
std::string inflated(std::string_view packed) {
  std::string out(1U << 20U, '\0');
  uLongf size = out.size();
  EXPECT_EQ(
      uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
      Z_OK);
  out.resize(size);
  return out;
}

// What web/src/data.ts does.
class Unpacked {
 public:
  explicit Unpacked(const PageRows& rows) : bytes_(inflated(rows.packed())) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes_.data(), sizeof length);
    header = json::parse(bytes_.substr(sizeof length, length));
    start_ = (sizeof length + length + 7) / 8 * 8;
  }
  [[nodiscard]] std::vector<int> steps(const json& section) const {
    std::vector<int> numbers = raw<int>(section);
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      numbers[i] += numbers[i - 1];
    }
    return numbers;
  }
  template <class Number>
  [[nodiscard]] std::vector<Number> raw(const json& section) const {
    std::vector<Number> numbers(section[1].get<std::size_t>() / sizeof(Number));
    EXPECT_EQ(section[0].get<std::size_t>() % 8, 0U);
    std::memcpy(numbers.data(), bytes_.data() + start_ + section[0].get<std::size_t>(), numbers.size() * sizeof(Number));
    return numbers;
  }
  [[nodiscard]] std::vector<std::string> texts(const json& texts, const json& ids) const {
    std::vector<std::string> found;
    for (const int id : steps(ids)) {
      found.push_back(texts.at(static_cast<std::size_t>(id)));
    }
    return found;
  }
  json header;

 private:
  std::string bytes_;
  std::size_t start_ = 0;
};

const std::vector<PageColumn> kColumns = {{"name", "Name", PageKind::kName},
                                          {"difference", "Difference", PageKind::kDifference, 3, 4},
                                          {"relative", "Relative", PageKind::kRelative, 3, 4},
                                          {"target", "Target", PageKind::kNumber},
                                          {"golden", "Golden", PageKind::kNumber},
                                          {"type", "Type", PageKind::kText}};

compare::Cell real_cell(double value, std::string_view text) { return {compare::CellKind::kReal, text, value, 0}; }

void add(PageRows& rows, std::string_view name, double target, double golden, const compare::Cell& difference,
         const compare::Cell& relative) {
  rows.text(0, name);
  rows.number(3, target);
  rows.number(4, golden);
  rows.text(5, "float32");
  rows.derived(1, difference);
  rows.derived(2, relative);
  rows.end_row(compare::Result::kPass, rows.size());
}

TEST(Base64, IsThatOfTheRfc) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFB\xFF\xFE"), "+//+");
}

TEST(PageRows, NamesAreSplitBehindThePass) {
  PageRows rows(kColumns);
  const std::vector<std::string> names = {"Module.output.Linear.forward.0.output.0",
                                          "Module.a.forward.0.input.output.1",
                                          "Aten.mm.3.forward.input.0",
                                          "Module.a.Linear.forward.0.parameters.weight",
                                          "no section at all",
                                          ""};
  for (const std::string& name : names) {
    add(rows, name, 1, 1, real_cell(0, "0"), real_cell(0, "0"));
  }
  const Unpacked page(rows);
  const json& column = page.header["columns"][0];
  const std::vector<std::string> ops = page.texts(page.header["ops"], column["ids"]);
  const std::vector<std::string> places = page.texts(page.header["places"], column["suffix_ids"]);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(ops[i] + places[i], names[i]);
  }
  EXPECT_EQ(ops[0], "Module.output.Linear.forward.0");
  EXPECT_EQ(places[1], ".input.output.1");
  EXPECT_EQ(ops[2], "Aten.mm.3.forward");
  EXPECT_EQ(places[3], ".parameters.weight");
}

TEST(PageRows, OnlyWhatTheFormulaDoesNotGiveIsCarried) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  PageRows rows(kColumns);
  add(rows, "a", 3, 2, real_cell(1, "1.0"), real_cell(50, "50.0%"));
  add(rows, "b", kInf, kInf, real_cell(0, "0"), real_cell(0, "0"));
  add(rows, "c", 1, 0, real_cell(1, "1.0"), real_cell(kInf, "inf"));
  add(rows, "d", std::nan(""), 1, real_cell(std::nan(""), "Nan"), real_cell(std::nan(""), "Nan"));
  add(rows, "e", 0x1p60, 0x1p60, real_cell(1, "1"), real_cell(1e-16, "1e-16%"));
  const Unpacked page(rows);
  const json& difference = page.header["columns"][1];
  EXPECT_EQ(page.steps(difference["word_rows"]), (std::vector<int>{3, 4}));
  EXPECT_EQ(page.texts(page.header["words"], difference["word_ids"]), (std::vector<std::string>{"Nan", "1"}));
  EXPECT_EQ(difference["target"], "target");
  const std::vector<double> target = page.raw<double>(page.header["columns"][3]["numbers"]);
  EXPECT_EQ(target[1], kInf);
  EXPECT_TRUE(std::isnan(target[3]));
}

TEST(PageRows, RowsOfBlocksAreThoseOfOne) {
  PageRows whole(kColumns);
  PageRows block(kColumns);
  PageRows joined(kColumns);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "Aten.op" + std::to_string(i % 7) + "." + std::to_string(i) + ".forward.output.0";
    const compare::Cell odd{compare::CellKind::kText, i % 3 == 0 ? "N/A" : "Diff", 0, 0};
    add(whole, name, i, 2.0 * i + 1, odd, odd);
    add(block, name, i, 2.0 * i + 1, odd, odd);
  }
  for (std::size_t row = 0; row < block.size(); ++row) {
    joined.add_row(block, row);
  }
  EXPECT_EQ(joined.packed(), whole.packed());
}

TEST(PageFile, NothingInTheDataEndsItsElement) {
  const std::string path = fs::temp_directory_path() / ("page_test" + std::to_string(::getpid()) + ".html");
  PageFile file(path);
  file.write_description(R"({"name": "</script><!--<script>"})");
  file.write_table("any bytes");
  const std::string written = file.finish();
  std::ifstream stream(written);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  fs::remove(written);
  EXPECT_NE(
      text.find(
          R"(<script type="application/json" id="description">{"name": "\u003c/script>\u003c!--\u003cscript>"}</script>)"),
      std::string::npos);
  EXPECT_NE(text.find(R"(id="table0">YW55IGJ5dGVz</script>)"), std::string::npos);
  EXPECT_EQ(text.find("<!--msprobe-data-->"), std::string::npos);
  EXPECT_TRUE(text.ends_with("</html>\n"));
}

TEST(Deflate, IsReadByZlib) { EXPECT_EQ(inflated(compressed_zlib("as it was")), "as it was"); }

}  // namespace
}  // namespace msprobe::report

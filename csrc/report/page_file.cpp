// SPDX-License-Identifier: Apache-2.0
// Writes the template up to the place of the data, the data, the rest.
#include "report/page_file.h"

#include "base/error.h"
#include "report/base64.h"

namespace msprobe::report {
namespace {

constexpr std::string_view kPlace = "<!--msprobe-data-->";

// '<' can stand only within the strings of JSON, where its escape means the same.
std::string without_markup(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

PageFile::PageFile(const std::string& path) : file_(path) {
  const std::size_t place = page_template().find(kPlace);
  if (place == std::string_view::npos) {
    fail("the page's template has no place for data (", kPlace, "): build it again with `make page`");
  }
  file_.write(page_template().substr(0, place));
  behind_ = place + kPlace.size();
}

void PageFile::write_description(const std::string& json) {
  file_.write(R"(<script type="application/json" id="description">)");
  file_.write(without_markup(json));
  file_.write("</script>\n");
}

void PageFile::write_table(std::string_view packed) {
  file_.write(R"(<script type="application/octet-stream" id="table)" + std::to_string(tables_++) + R"(">)");
  // Whole groups of three bytes, so that the pieces are one text of base64.
  constexpr std::size_t kPiece = std::size_t{3} << 18U;
  std::string text;
  for (std::size_t start = 0; start < packed.size(); start += kPiece) {
    text.clear();
    append_base64(text, packed.substr(start, kPiece));
    file_.write(text);
  }
  file_.write("</script>\n");
}

std::string PageFile::finish() {
  file_.write(page_template().substr(behind_));
  return file_.commit_new();
}

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// The HTML file of a page: the template that is built into the program, with the data in its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/atomic_file.h"

namespace msprobe::report {

// Rows that one page carries, all of its tables together. A browser holds some 200 bytes a row.
inline constexpr std::size_t kPageRows = 1'000'000;
// Of these, rows that passed: they give way to others where not all have a place.
inline constexpr std::size_t kPassedPageRows = kPageRows / 10 * 8;

// The template, made by `make page` from web/.
std::string_view page_template();

// One file in the making. Nothing that stands in the data can end the elements that hold it: JSON has no '<' left, tables are base64.
class PageFile {
 public:
  explicit PageFile(const std::string& path);
  void write_description(const std::string& json);  // first, once
  void write_table(std::string_view packed);        // PageRows::packed(), in the order of the description's tables
  std::string finish();                             // as compare::TableWriter's

 private:
  AtomicFile file_;
  std::size_t tables_ = 0;
  std::size_t behind_ = 0;  // where the template goes on
};

}  // namespace msprobe::report

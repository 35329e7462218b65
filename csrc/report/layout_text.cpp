// SPDX-License-Identifier: Apache-2.0
// Measures in columns of the terminal, not in bytes.
#include "report/layout_text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace msprobe::report {
namespace {

constexpr std::size_t kGap = 2;  // between columns

std::string_view ink_code(Ink ink) {
  switch (ink) {
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kRed:
      return "\x1b[31m";
    case Ink::kGreen:
      return "\x1b[32m";
    case Ink::kYellow:
      return "\x1b[33m";
    case Ink::kMagenta:
      return "\x1b[35m";
    case Ink::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::string inked(std::string_view text, Ink ink, bool colours) {
  if (!colours || ink == Ink::kPlain) {
    return std::string(text);
  }
  std::string out(ink_code(ink));
  out += text;
  out += "\x1b[0m";
  return out;
}

std::vector<std::size_t> TextTable::widths(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = display_width(columns_[i].head);
    for (const std::vector<Cell>& row : rows_) {
      widest = std::max(widest, display_width(row[i].text));
    }
    widths.push_back(widest);
  }
  std::size_t total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  for (std::size_t i = columns_.size(); i-- > 0 && total > width;) {
    if (columns_[i].narrowest > 0 && widths[i] > columns_[i].narrowest) {
      const std::size_t cut = std::min(widths[i] - columns_[i].narrowest, total - width);
      widths[i] -= cut;
      total -= cut;
    }
  }
  return widths;
}

void TextTable::append_to(std::string& out, std::size_t width, bool colours) const {
  const std::vector<std::size_t> column_widths = widths(width);
  const auto append_row = [&](const std::vector<Cell>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = columns_[i].right ? fit_right(row[i].text, column_widths[i])
                                                 : fit_left(row[i].text, column_widths[i], columns_[i].cut);
      line += inked(text, row[i].ink, colours);
      line.append(i + 1 < row.size() ? kGap : 0, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  std::vector<Cell> head;
  head.reserve(columns_.size());
  for (const Column& column : columns_) {
    head.push_back({column.head, Ink::kBold});
  }
  append_row(head);
  for (const std::vector<Cell>& row : rows_) {
    append_row(row);
  }
}

void append_wrapped(std::string& out, std::string_view lead, std::string_view text, std::size_t indent, std::size_t width) {
  std::string line = fit_left(lead, std::max(indent, lead.empty() ? 0 : display_width(lead) + 1));
  bool begun = false;  // a word stands in the line
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (begun && display_width(line) + 1 + display_width(word) > width) {
      out += line + "\n";
      line.assign(indent, ' ');
      begun = false;
    }
    line.append(begun ? 1 : 0, ' ');
    line += word;
    begun = begun || !word.empty();
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3; place -= 3) {
    digits.insert(place - 3, ",");
  }
  return digits;
}

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// Columns of rows, and the bytes that they become.
#include "report/page_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "report/deflate.h"
#include "report/json_text.h"

namespace msprobe::report {
namespace {

static_assert(std::endian::native == std::endian::little, "the page's numbers are little-endian");

constexpr std::size_t kAlignment = 8;  // of a double
constexpr std::array<std::string_view, 3> kSectionMarks = {".input", ".output", ".parameters"};
constexpr std::array<std::string_view, 5> kKindNames = {"name", "text", "number", "difference", "relative"};

constexpr std::array<std::string_view, 2> kPasses = {".forward", ".backward"};

// Where the name of the op ends: at the first section behind the pass, since modules and arguments may be called "output" too.
std::size_t op_end(std::string_view name) {
  std::size_t pass = 0;
  for (const std::string_view mark : kPasses) {
    const std::size_t at = name.rfind(mark);
    pass = at == std::string_view::npos ? pass : std::max(pass, at);
  }
  std::size_t end = name.size();
  for (const std::string_view mark : kSectionMarks) {
    end = std::min(end, name.find(mark, pass));
  }
  return end;
}

double derived_value(PageKind kind, double target, double golden) {
  if (target == golden) {
    return 0;
  }
  constexpr double kPercent = 100;
  return kind == PageKind::kDifference ? target - golden : std::abs((target - golden) / golden * kPercent);
}

// The sections behind the header.
class Sections {
 public:
  template <class Number>
  std::pair<std::size_t, std::size_t> add(const std::vector<Number>& numbers) {
    bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
    const std::size_t offset = bytes_.size();
    const std::size_t length = numbers.size() * sizeof(Number);
    bytes_.resize(offset + length);
    if (length > 0) {
      std::memcpy(bytes_.data() + offset, numbers.data(), length);
    }
    return {offset, length};
  }
  template <class Number>
  std::pair<std::size_t, std::size_t> add_steps(const std::vector<Number>& numbers) {
    std::vector<std::int32_t> steps(numbers.size());
    Number last = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      steps[i] = static_cast<std::int32_t>(numbers[i] - last);
      last = numbers[i];
    }
    return add(steps);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

void append_section(JsonText& json, std::string_view key, std::pair<std::size_t, std::size_t> section) {
  json.key(key);
  json.open('[');
  json.integer(static_cast<std::int64_t>(section.first));
  json.integer(static_cast<std::int64_t>(section.second));
  json.close(']');
}

void append_texts(JsonText& json, std::string_view key, const read::TextPool& pool) {
  json.key(key);
  json.open('[');
  for (std::uint32_t id = 0; id < pool.size(); ++id) {
    json.text(pool[id]);
  }
  json.close(']');
}

}  // namespace

PageRows::PageRows(std::vector<PageColumn> columns) : columns_(std::move(columns)), cells_(columns_.size()) {}

void PageRows::text(std::size_t column, std::string_view text) {
  Cells& cells = cells_[column];
  if (columns_[column].kind == PageKind::kName) {
    const std::size_t end = op_end(text);
    cells.ids.push_back(ops_.intern(text.substr(0, end)));
    cells.suffix_ids.push_back(suffixes_.intern(text.substr(end)));
  } else {
    cells.ids.push_back(cells.texts.intern(text));
  }
}

void PageRows::number(std::size_t column, double value) { cells_[column].numbers.push_back(value); }

void PageRows::number(std::size_t column, double value, std::string_view exact) {
  add_word(cells_[column], exact);
  cells_[column].numbers.push_back(value);
}

void PageRows::word(std::size_t column, std::string_view text) {
  number(column, std::numeric_limits<double>::quiet_NaN(), text);
}

void PageRows::derived(std::size_t column, const compare::Cell& cell) {
  const PageColumn& made = columns_[column];
  const double target = cells_[made.target].numbers.back();
  const double golden = cells_[made.golden].numbers.back();
  if (cell.kind == compare::CellKind::kText || derived_value(made.kind, target, golden) != cell.real) {
    add_word(cells_[column], cell.text);
  }
}

void PageRows::add_word(Cells& cells, std::string_view text) {
  cells.word_rows.push_back(static_cast<std::uint32_t>(size()));
  cells.word_ids.push_back(words_.intern(text));
}

void PageRows::end_row(compare::Result result, std::uint64_t place) {
  results_.push_back(result);
  places_.push_back(place);
}

void PageRows::add_row(const PageRows& other, std::size_t row) {
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const Cells& from = other.cells_[column];
    Cells& to = cells_[column];
    switch (columns_[column].kind) {
      case PageKind::kName:
        to.ids.push_back(ops_.intern(other.ops_[from.ids[row]]));
        to.suffix_ids.push_back(suffixes_.intern(other.suffixes_[from.suffix_ids[row]]));
        continue;
      case PageKind::kText:
        to.ids.push_back(to.texts.intern(from.texts[from.ids[row]]));
        continue;
      default:
        break;
    }
    const auto word = std::lower_bound(from.word_rows.begin(), from.word_rows.end(), row);
    if (word != from.word_rows.end() && *word == row) {
      add_word(to, other.words_[from.word_ids[static_cast<std::size_t>(word - from.word_rows.begin())]]);
    }
    if (columns_[column].kind == PageKind::kNumber) {
      to.numbers.push_back(from.numbers[row]);
    }
  }
  end_row(other.results_[row], other.places_[row]);
}

void PageRows::shift_places(std::uint64_t by) {
  for (std::uint64_t& place : places_) {
    place += by;
  }
}

std::string PageRows::packed() const {
  Sections sections;
  JsonText json;
  json.open('{');
  json.key("rows");
  json.integer(static_cast<std::int64_t>(size()));
  append_section(json, "place", sections.add_steps(places_));
  append_texts(json, "ops", ops_);
  append_texts(json, "places", suffixes_);
  append_texts(json, "words", words_);
  json.key("columns");
  json.open('[');
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const PageColumn& column = columns_[i];
    const Cells& cells = cells_[i];
    json.open('{');
    json.key("key");
    json.text(column.key);
    json.key("title");
    json.text(column.title);
    json.key("kind");
    json.text(kKindNames[static_cast<std::size_t>(column.kind)]);
    if (column.kind == PageKind::kName || column.kind == PageKind::kText) {
      append_section(json, "ids", sections.add_steps(cells.ids));
      if (column.kind == PageKind::kName) {
        append_section(json, "suffix_ids", sections.add_steps(cells.suffix_ids));
      } else {
        append_texts(json, "texts", cells.texts);
      }
    } else {
      append_section(json, "word_rows", sections.add_steps(cells.word_rows));
      append_section(json, "word_ids", sections.add_steps(cells.word_ids));
      if (column.kind == PageKind::kNumber) {
        append_section(json, "numbers", sections.add(cells.numbers));
      } else {
        json.key("target");
        json.text(columns_[column.target].key);
        json.key("golden");
        json.text(columns_[column.golden].key);
      }
    }
    json.close('}');
  }
  json.close(']');
  json.close('}');
  const std::string header = json.take();
  const auto length = static_cast<std::uint32_t>(header.size());
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += header;
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  bytes += sections.bytes();
  return compressed_zlib(bytes);
}

}  // namespace msprobe::report

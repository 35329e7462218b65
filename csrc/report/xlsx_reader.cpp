// SPDX-License-Identifier: Apache-2.0
// Reads the cells of a workbook: ours, and those that Excel, pandas and openpyxl write.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "read/open_inside.h"
#include "read/pt_memory.h"
#include "report/table_reader.h"
#include "report/xml_part.h"

namespace msprobe::report {
namespace {

constexpr std::size_t kColumns = 16384;                      // Excel's
constexpr std::size_t kSharedBytes = std::size_t{1} << 30U;  // texts that are kept in memory

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end ? std::optional<Number>(number) : std::nullopt;
}

std::string_view attribute(const XmlAttributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string_view() : found->second;
}

// xl/workbook.xml: the sheets in their order, by the name of their relation.
class SheetList : public XmlHandler {
 public:
  std::vector<std::string> relations;

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "sheet") {
      relations.emplace_back(attribute(attributes, "id"));
    }
  }
  void end(std::string_view /*name*/) override {}
  void text(std::string_view /*piece*/) override {}
};

// xl/_rels/workbook.xml.rels: which part a relation leads to.
class Relations : public XmlHandler {
 public:
  std::map<std::string, std::string, std::less<>> targets;

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name != "Relationship") {
      return;
    }
    const std::string_view target = attribute(attributes, "Target");
    targets[std::string(attribute(attributes, "Id"))] =
        target.starts_with('/') ? std::string(target.substr(1)) : "xl/" + std::string(target);
  }
  void end(std::string_view /*name*/) override {}
  void text(std::string_view /*piece*/) override {}
};

// xl/styles.xml: which styles show a number as a percentage.
class Styles : public XmlHandler {
 public:
  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "numFmt" && attribute(attributes, "formatCode").find('%') != std::string_view::npos) {
      percent_formats_.insert(number_of<int>(attribute(attributes, "numFmtId")).value_or(-1));
    } else if (name == "cellXfs") {
      in_cells_ = true;
    } else if (name == "xf" && in_cells_) {
      percent_.push_back(percent_formats_.contains(number_of<int>(attribute(attributes, "numFmtId")).value_or(0)));
    }
  }
  void end(std::string_view name) override { in_cells_ = in_cells_ && name != "cellXfs"; }
  void text(std::string_view /*piece*/) override {}
  [[nodiscard]] bool is_percent(std::size_t style) const { return style < percent_.size() && percent_[style]; }

 private:
  std::set<int> percent_formats_ = {9, 10};  // 0% and 0.00%, which need not be declared
  bool in_cells_ = false;
  std::vector<bool> percent_;
};

// xl/sharedStrings.xml.
class SharedTexts : public XmlHandler {
 public:
  explicit SharedTexts(const std::string& path) : path_(path) {}
  std::vector<std::string> texts;

  void start(std::string_view name, const XmlAttributes& /*attributes*/) override {
    if (name == "si") {
      texts.emplace_back();
    }
    phonetic_ = phonetic_ || name == "rPh";
    in_text_ = name == "t" && !phonetic_ && !texts.empty();
  }
  void end(std::string_view name) override {
    in_text_ = false;
    phonetic_ = phonetic_ && name != "rPh";
  }
  void text(std::string_view piece) override {
    if (in_text_) {
      texts.back() += piece;
      bytes_ += piece.size();
      if (bytes_ > kSharedBytes) {
        fail("'", path_, "': its shared texts exceed ", kSharedBytes, " bytes; give the CSV of the same run instead");
      }
    }
  }

 private:
  const std::string& path_;
  bool in_text_ = false;
  bool phonetic_ = false;
  std::size_t bytes_ = 0;
};

class SheetReader : public XmlHandler {
 public:
  SheetReader(const std::string& path, const Styles& styles, const std::vector<std::string>& shared,
              const std::function<void(std::vector<TableCell>&)>& take)
      : path_(path), styles_(styles), shared_(shared), take_(take) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "row") {
      row_.clear();
    } else if (name == "c") {
      type_ = attribute(attributes, "t");
      style_ = number_of<std::size_t>(attribute(attributes, "s")).value_or(0);
      column_ = column_of(attribute(attributes, "r"));
      value_.clear();
    }
    in_value_ = name == "v" || name == "t";
  }

  void end(std::string_view name) override {
    in_value_ = false;
    if (name == "c") {
      row_.resize(std::max(row_.size(), column_ + 1));
      row_[column_] = cell();
    } else if (name == "row") {
      ++row_number_;
      take_(row_);
    }
  }

  void text(std::string_view piece) override {
    if (in_value_) {
      value_ += piece;
    }
  }

 private:
  // "AB12" is column 27; without a place a cell follows the one before it.
  [[nodiscard]] std::size_t column_of(std::string_view place) const {
    std::size_t column = 0;
    std::size_t letters = 0;
    while (letters < place.size() && place[letters] >= 'A' && place[letters] <= 'Z' && letters < 4) {
      column = (column * 26) + static_cast<std::size_t>(place[letters++] - 'A' + 1);
    }
    column = letters == 0 ? row_.size() + 1 : column;
    if (column > kColumns) {
      fail("'", path_, "', row ", row_number_ + 1, ": there is no column ", place, "; the file is damaged");
    }
    return column - 1;
  }

  [[nodiscard]] TableCell cell() const {
    if (type_ == "s") {
      const std::optional<std::size_t> index = number_of<std::size_t>(value_);
      if (!index || *index >= shared_.size()) {
        fail("'", path_, "', row ", row_number_ + 1, ": there is no shared text ", value_, "; the file is damaged");
      }
      return cell_of_text(shared_[*index]);
    }
    if (type_ == "b") {
      return {TableCell::Kind::kText, 0, value_ == "0" ? "False" : "True"};
    }
    TableCell found = cell_of_text(value_);
    if ((type_.empty() || type_ == "n") && found.kind == TableCell::Kind::kNumber && styles_.is_percent(style_)) {
      found.kind = TableCell::Kind::kFraction;
    }
    return found;
  }

  const std::string& path_;
  const Styles& styles_;
  const std::vector<std::string>& shared_;
  const std::function<void(std::vector<TableCell>&)>& take_;
  std::vector<TableCell> row_;
  std::string type_;
  std::string value_;
  std::size_t style_ = 0;
  std::size_t column_ = 0;
  std::size_t row_number_ = 0;
  bool in_value_ = false;
};

class Book {
 public:
  explicit Book(const std::string& path)
      : path_(path),
        memory_(read::MappedMemory::map_file(read::open_regular(path), path)),
        parts_(read::read_zip(memory_->bytes(), path)) {}

  [[nodiscard]] const read::ZipEntry* find(std::string_view name) const {
    for (const read::ZipEntry& part : parts_) {
      if (part.name == name) {
        return &part;
      }
    }
    return nullptr;
  }

  void walk(std::string_view name, XmlHandler& handler, bool required) const {
    const read::ZipEntry* part = find(name);
    if (part != nullptr) {
      walk_xml(*part, path_, handler);
    } else if (required) {
      fail("'", path_, "' has no part ", name, ": it is no workbook");
    }
  }

 private:
  const std::string& path_;
  std::shared_ptr<read::MappedMemory> memory_;
  std::vector<read::ZipEntry> parts_;
};

}  // namespace

void read_xlsx(const std::string& path, const RowTaker& take) {
  const Book book(path);
  SheetList sheets;
  Relations relations;
  Styles styles;
  SharedTexts shared(path);
  book.walk("xl/workbook.xml", sheets, true);
  book.walk("xl/_rels/workbook.xml.rels", relations, true);
  book.walk("xl/styles.xml", styles, false);
  book.walk("xl/sharedStrings.xml", shared, false);

  std::vector<std::string> head;
  for (std::size_t sheet = 0; sheet < sheets.relations.size(); ++sheet) {
    bool first = true;
    const std::function<void(std::vector<TableCell>&)> take_row = [&](std::vector<TableCell>& row) {
      if (!std::exchange(first, false)) {
        take(row);
        return;
      }
      std::vector<std::string> texts;
      texts.reserve(row.size());
      for (const TableCell& cell : row) {
        texts.push_back(cell.text);
      }
      if (sheet > 0 && texts == head) {
        return;
      }
      if (sheet == 0) {
        head = texts;
      }
      take(row);
    };
    SheetReader reader(path, styles, shared.texts, take_row);
    const auto target = relations.targets.find(sheets.relations[sheet]);
    book.walk(target == relations.targets.end() ? "" : target->second, reader, true);
  }
}

}  // namespace msprobe::report

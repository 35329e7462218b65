// SPDX-License-Identifier: Apache-2.0
// Reads CSV, and tells what a text in a table is.
#include <charconv>
#include <cmath>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "report/table_reader.h"

namespace msprobe::report {
namespace {

// The states of RFC 4180's grammar.
class CsvParser {
 public:
  CsvParser(const std::string& path, const RowTaker& take) : path_(path), take_(take) {}

  void feed(std::string_view piece) {
    for (const char byte : piece) {
      ++offset_;
      step(byte);
    }
  }

  void end() {
    if (state_ == State::kQuoted) {
      fail("'", path_, "', byte ", quote_offset_, ": a quote is not closed; the file is cut off or no CSV");
    }
    if (state_ != State::kRowStart) {
      end_row();
    }
  }

 private:
  enum class State : std::uint8_t { kRowStart, kCellStart, kPlain, kQuoted, kQuoteInQuoted };

  void step(char byte) {
    if (state_ == State::kQuoted) {
      if (byte == '"') {
        state_ = State::kQuoteInQuoted;
      } else {
        cell_ += byte;
      }
    } else if (byte == '"' && state_ == State::kQuoteInQuoted) {
      cell_ += byte;
      state_ = State::kQuoted;
    } else if (byte == '"' && (state_ == State::kRowStart || state_ == State::kCellStart)) {
      quote_offset_ = offset_ - 1;
      state_ = State::kQuoted;
    } else if (byte == ',') {
      end_cell();
      state_ = State::kCellStart;
    } else if (byte == '\n') {
      if (state_ != State::kRowStart) {
        end_row();
      }
    } else if (byte != '\r') {
      cell_ += byte;
      state_ = State::kPlain;
    }
  }

  void end_cell() {
    if (head_done_) {
      row_.push_back(cell_of_text(cell_));
    } else {
      row_.push_back({TableCell::Kind::kText, 0, cell_});
    }
    cell_.clear();
  }

  void end_row() {
    end_cell();
    if (head_done_ && row_.size() != columns_) {
      fail("'", path_, "', byte ", row_offset_, ": a row has ", row_.size(), " cells where the head has ", columns_,
           "; the file is cut off or no CSV");
    }
    take_(row_);
    columns_ = row_.size();
    row_.clear();
    row_offset_ = offset_;
    head_done_ = true;
    state_ = State::kRowStart;
  }

  const std::string& path_;
  const RowTaker& take_;
  State state_ = State::kRowStart;
  std::size_t offset_ = 0;
  std::size_t quote_offset_ = 0;
  std::size_t row_offset_ = 0;
  std::size_t columns_ = 0;  // of the head
  std::string cell_;
  std::vector<TableCell> row_;
  bool head_done_ = false;
};

bool parse_number(std::string_view text, double& number) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end && std::isfinite(number);
}

}  // namespace

TableCell cell_of_text(std::string_view text) {
  double number = 0;
  if (text.empty()) {
    return {};
  }
  if (parse_number(text, number)) {
    return {TableCell::Kind::kNumber, number, std::string(text)};
  }
  if (text.ends_with('%') && parse_number(text.substr(0, text.size() - 1), number)) {
    return {TableCell::Kind::kFraction, number / 100, {}};
  }
  return {TableCell::Kind::kText, 0, std::string(text)};
}

void read_csv(const std::string& path, const RowTaker& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail_file("open", path, errno);
  }
  CsvParser parser(path, take);
  std::vector<char> buffer(std::size_t{1} << 20U);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
    parser.feed({buffer.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad()) {
    fail_file("read", path, EIO);
  }
  parser.end();
}

}  // namespace msprobe::report

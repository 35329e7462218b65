// SPDX-License-Identifier: Apache-2.0
// RapidJSON over a window of the file: numbers come as text, so that their kind and all digits are kept.
#include "read/json_file.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"
#include "read/open_inside.h"

namespace msprobe::read {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 18U;
constexpr std::size_t kLongestText = std::size_t{1} << 26U;
constexpr std::size_t kDeepest = 1000;  // the parser recurses
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// A window into a file, or all of a text. The character behind the end is 0, which no JSON has.
class Window {
 public:
  using Ch = char;  // names here are RapidJSON's

  Window(const std::string& path, ReadProgress progress)
      : path_(path), file_(open_regular(path)), progress_(std::move(progress)), buffer_(kWindow + 1) {
    refill();
    skip_mark();
  }
  Window(std::string_view text, const std::string& path) : path_(path), buffer_(text.begin(), text.end()) {
    buffer_.push_back('\0');
    next_ = buffer_.data();
    end_ = next_ + text.size();
    skip_mark();
  }

  [[nodiscard]] char Peek() const { return *next_; }  // NOLINT(readability-identifier-naming)
  char Take() {                                       // NOLINT(readability-identifier-naming)
    const char c = *next_;
    if (next_ != end_) {
      ++next_;
      if (next_ == end_) {
        refill();
      }
    }
    return c;
  }
  [[nodiscard]] std::size_t Tell() const {  // NOLINT(readability-identifier-naming)
    return before_ + static_cast<std::size_t>(next_ - buffer_.data());
  }
  // Of the interface for parsing in place, which is not used.
  char* PutBegin() { return nullptr; }           // NOLINT(readability-identifier-naming)
  void Put(char /*c*/) {}                        // NOLINT(readability-identifier-naming)
  void Flush() {}                                // NOLINT(readability-identifier-naming)
  std::size_t PutEnd(char* /*c*/) { return 0; }  // NOLINT(readability-identifier-naming)

  // Called by each event: no single text may be longer than kLongestText.
  void mark() { mark_ = Tell(); }
  [[nodiscard]] bool too_long() const noexcept { return too_long_; }
  [[nodiscard]] std::size_t size() const noexcept { return before_ + static_cast<std::size_t>(end_ - buffer_.data()); }

 private:
  void refill() {
    if (file_.get() < 0) {
      return;
    }
    before_ += static_cast<std::size_t>(end_ == nullptr ? 0 : end_ - buffer_.data());
    too_long_ = before_ - std::min(before_, mark_) > kLongestText;
    ssize_t got = 0;
    do {
      got = too_long_ ? 0 : ::read(file_.get(), buffer_.data(), kWindow);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      fail_file("read", path_, errno);
    }
    next_ = buffer_.data();
    end_ = next_ + got;
    *end_ = '\0';
    if (progress_) {
      progress_(static_cast<std::uint64_t>(got));
    }
  }
  void skip_mark() {
    if (std::string_view(next_, static_cast<std::size_t>(end_ - next_)).starts_with(kByteOrderMark)) {
      next_ += kByteOrderMark.size();
    }
  }

  const std::string& path_;
  FileDescriptor file_;
  ReadProgress progress_;
  std::vector<char> buffer_;
  char* next_ = nullptr;
  char* end_ = nullptr;
  std::size_t before_ = 0;  // bytes of the file before the window
  std::size_t mark_ = 0;
  bool too_long_ = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// As JSON spells numbers.
bool is_number(std::string_view text) {
  const auto digits = [&] {
    std::size_t count = 0;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
      ++count;
    }
    return count;
  };
  const auto skip = [&](std::string_view characters) {
    const bool found = !text.empty() && characters.find(text.front()) != std::string_view::npos;
    text.remove_prefix(found ? 1 : 0);
    return found;
  };
  skip("-");
  const bool zero = text.starts_with('0');
  if (const std::size_t whole = digits(); whole == 0 || (zero && whole > 1)) {
    return false;
  }
  if (skip(".") && digits() == 0) {
    return false;
  }
  if (skip("eE")) {
    skip("+-");
    if (digits() == 0) {
      return false;
    }
  }
  return text.empty();
}

// The stream in which a number that RapidJSON calls too large stands as the float64 that it is.
class AnyNumbers {
 public:
  using Ch = char;

  explicit AnyNumbers(Window& window) : window_(window) { look_ahead(); }

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  [[nodiscard]] char Peek() const { return next_ < number_.size() ? number_[next_] : window_.Peek(); }
  char Take() {
    if (next_ < number_.size()) {
      return number_[next_++];
    }
    const char c = window_.Take();
    if (in_text_) {
      in_text_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else {
      in_text_ = c == '"';
      escaped_ = false;
      look_ahead();
    }
    return c;
  }
  [[nodiscard]] std::size_t Tell() const { return next_ < number_.size() ? start_ + next_ : window_.Tell(); }
  char* PutBegin() { return nullptr; }
  void Put(char /*c*/) {}
  void Flush() {}
  std::size_t PutEnd(char* /*c*/) { return 0; }
  // NOLINTEND(readability-identifier-naming)

 private:
  void look_ahead() {
    if (in_text_ || (window_.Peek() != '-' && !is_digit(window_.Peek()))) {
      return;
    }
    start_ = window_.Tell();
    next_ = 0;
    number_.clear();
    while (is_digit(window_.Peek()) || std::string_view("+-.eE").find(window_.Peek()) != std::string_view::npos) {
      number_ += window_.Take();
    }
    double value = 0;
    const auto read = std::from_chars(number_.data(), number_.data() + number_.size(), value);
    const bool beyond = read.ec == std::errc::result_out_of_range;
    const bool judged_by_value =
        number_.size() < kLongNumber && (value != 0 || number_.find_first_of("eE") == std::string::npos);
    if ((!beyond && judged_by_value) || !is_number(number_)) {
      return;
    }
    if (beyond) {
      value = std::strtod(number_.c_str(), nullptr);  // infinite, or next to nothing
    }
    if (std::isinf(value)) {
      number_ = value > 0 ? "Infinity" : "-Infinity";
    } else {
      std::array<char, 32> digits{};
      number_.assign(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
      number_ += number_.find_first_of(".e") == std::string::npos ? ".0" : "";
    }
  }

  static constexpr std::size_t kLongNumber = 300;  // RapidJSON counts digits above this, and the exponents of zeros

  Window& window_;
  std::string number_;  // that comes next, from next_ on
  std::size_t next_ = 0;
  std::size_t start_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
};

// RapidJSON's handler: counts levels, passes events on.
class Events {
 public:
  using Ch = char;
  using Size = rapidjson::SizeType;

  Events(JsonHandler& handler, Window& window) : handler_(handler), window_(window) {}

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  bool Null() { return handler_.null(), marked(); }
  bool Bool(bool value) { return handler_.boolean(value), marked(); }
  bool RawNumber(const char* text, Size size, bool /*copy*/) { return handler_.number({text, size}), marked(); }
  bool String(const char* text, Size size, bool /*copy*/) { return handler_.string({text, size}), marked(); }
  bool Key(const char* text, Size size, bool /*copy*/) { return handler_.key({text, size}), marked(); }
  bool StartObject() { return handler_.open_object(), deeper(); }
  bool EndObject(Size /*members*/) { return handler_.close_object(), higher(); }
  bool StartArray() { return handler_.open_list(), deeper(); }
  bool EndArray(Size /*elements*/) { return handler_.close_list(), higher(); }
  // Never called, since numbers come as text.
  bool Int(int /*value*/) { return false; }
  bool Uint(unsigned /*value*/) { return false; }
  bool Int64(std::int64_t /*value*/) { return false; }
  bool Uint64(std::uint64_t /*value*/) { return false; }
  bool Double(double /*value*/) { return false; }
  // NOLINTEND(readability-identifier-naming)

 private:
  bool marked() {
    window_.mark();
    return true;
  }
  bool deeper() { return ++depth_ <= kDeepest && marked(); }
  bool higher() {
    --depth_;
    return marked();
  }

  JsonHandler& handler_;
  Window& window_;
  std::size_t depth_ = 0;
};

// Line and column of a byte, by reading up to it once more: only errors need them.
std::string place_of(Window&& window, std::size_t offset) {
  std::size_t line = 1;
  std::size_t line_start = 0;
  while (window.Tell() < offset && window.Tell() < window.size()) {
    window.mark();
    if (window.Take() == '\n') {
      ++line;
      line_start = window.Tell();
    }
  }
  return "byte " + std::to_string(offset) + " (line " + std::to_string(line) + ", column " +
         std::to_string(offset - std::min(offset, line_start) + 1) + ")";
}

// False if it stopped at a number that is too large.
template <class OpenAgain>
bool parse(Window& window, const std::string& name, JsonHandler& handler, LargeNumbers large, OpenAgain open_again) {
  constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseNanAndInfFlag;
  Events events(handler, window);
  rapidjson::Reader reader;
  rapidjson::ParseResult result;
  if (large == LargeNumbers::kStop) {
    result = reader.Parse<kFlags>(window, events);
  } else {
    AnyNumbers numbers(window);
    result = reader.Parse<kFlags>(numbers, events);
  }
  if (!result.IsError()) {
    return true;
  }
  if (large == LargeNumbers::kStop && result.Code() == rapidjson::kParseErrorNumberTooBig) {
    return false;
  }
  const std::string place = place_of(open_again(), result.Offset());
  if (result.Code() == rapidjson::kParseErrorTermination) {
    fail("'", name, "' is nested deeper than 1,000 levels at ", place, "; this is no dump that msprobe can read.");
  }
  if (window.too_long()) {
    fail("'", name, "' has a text of more than 64 MiB before ", place, "; this is no dump that msprobe can read.");
  }
  if (result.Offset() >= window.size()) {
    fail("'", name, "' ends in the middle, at ", place,
         "; is it complete? Take the dump again, or leave this file out of the comparison.");
  }
  fail("'", name, "' is broken JSON at ", place, ": ", rapidjson::GetParseError_En(result.Code()),
       " Repair the file or take the dump again.");
}

}  // namespace

std::optional<std::uint64_t> parse_json_file(const std::string& path, JsonHandler& handler, LargeNumbers large,
                                             const ReadProgress& progress) {
  Window window(path, progress);
  const bool whole = parse(window, path, handler, large, [&] { return Window(path, ReadProgress{}); });
  return whole ? std::optional<std::uint64_t>(window.size()) : std::nullopt;
}

bool parse_json_text(std::string_view text, const std::string& name, JsonHandler& handler, LargeNumbers large) {
  Window window(text, name);
  return parse(window, name, handler, large, [&] { return Window(text, name); });
}

}  // namespace msprobe::read

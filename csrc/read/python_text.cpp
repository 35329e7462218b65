// SPDX-License-Identifier: Apache-2.0
// Digits come from std::to_chars; where the point and the exponent go is Python's rule.
#include "read/python_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace msprobe::read {
namespace {

constexpr int kFirstExponent = -4;  // below, an exponent is printed
constexpr int kLastExponent = 16;   // from here on as well

template <class Integer>
void append_integer(std::string& out, Integer value) {
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void append_exponent(std::string& out, int exponent) {
  out += exponent < 0 ? "e-" : "e+";
  const int size = exponent < 0 ? -exponent : exponent;
  if (size < 10) {
    out += '0';
  }
  append_integer(out, size);
}

}  // namespace

void append_python_float(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf");
    return;
  }
  // d.ddddde±xx; g++ 12 prints the shortest digits that read back.
  std::array<char, 32> buffer{};
  const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  const std::size_t mark = text.rfind('e');
  int exponent = 0;
  const char* const sign = text.data() + mark + 1;
  std::from_chars(sign + (*sign == '+' ? 1 : 0), end, exponent);
  const char first = text.front();
  const std::string_view rest = mark > 2 ? text.substr(2, mark - 2) : std::string_view{};
  if (exponent < kFirstExponent || exponent >= kLastExponent) {
    out += first;
    if (!rest.empty()) {
      out += '.';
      out += rest;
    }
    append_exponent(out, exponent);
  } else if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += first;
    out += rest;
  } else {
    const auto whole = static_cast<std::size_t>(exponent);
    out += first;
    if (rest.size() <= whole) {
      out += rest;
      out.append(whole - rest.size(), '0');
      out += ".0";
    } else {
      out += rest.substr(0, whole);
      out += '.';
      out += rest.substr(whole);
    }
  }
}

void append_python_int(std::string& out, std::int64_t value) { append_integer(out, value); }
void append_python_int(std::string& out, std::uint64_t value) { append_integer(out, value); }

void append_python_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool double_quotes = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  out += quote;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (code < 0x20U || code == 0x7FU) {
      out += "\\x";
      out += kHex[code >> 4U];
      out += kHex[code & 0xFU];
    } else {
      out += c;
    }
  }
  out += quote;
}

}  // namespace msprobe::read

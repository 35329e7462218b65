// SPDX-License-Identifier: Apache-2.0
// JSON strings and numbers.
#include "dump/json.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace msprobe::dump {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Length of the well-formed UTF-8 sequence at the start of `text` (RFC 3629: no overlong forms, no surrogates), or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
  const unsigned char lead = byte(0);
  if (lead < 0x80U) {
    return 1;
  }
  if (lead >= 0xC2U && lead <= 0xDFU) {
    return continues(1) ? 2 : 0;
  }
  if (lead >= 0xE0U && lead <= 0xEFU) {
    if (!continues(1) || !continues(2)) {
      return 0;
    }
    const bool overlong = lead == 0xE0U && byte(1) < 0xA0U;
    const bool surrogate = lead == 0xEDU && byte(1) > 0x9FU;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead >= 0xF0U && lead <= 0xF4U) {
    if (!continues(1) || !continues(2) || !continues(3)) {
      return 0;
    }
    const bool overlong = lead == 0xF0U && byte(1) < 0x90U;
    const bool too_large = lead == 0xF4U && byte(1) > 0x8FU;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(c);
  if (code < 0x20U || code == 0x7FU) {
    out += "\\u00";
    out += kHex[code >> 4U];
    out += kHex[code & 0xFU];
  } else {
    out += c;
  }
}

template <class Integer>
void append_integer(std::string& out, Integer value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += kReplacement;
      text.remove_prefix(1);
    } else if (length == 1) {
      append_escaped(out, text.front());
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) {
    out += ".0";  // readers that tell ints from floats must get a float
  }
}

void append_json_number(std::string& out, std::int64_t value) { append_integer(out, value); }
void append_json_number(std::string& out, std::uint64_t value) { append_integer(out, value); }

}  // namespace msprobe::dump

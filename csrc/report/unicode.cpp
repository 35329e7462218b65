// SPDX-License-Identifier: Apache-2.0
// UTF-8 and widths by utf8proc.
#include "report/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

namespace msprobe::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// One character of UTF-8 text, or one byte that is none.
struct Character {
  std::string_view bytes;
  std::size_t width = 0;
};

Character next_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t length = utf8proc_iterate(data, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (length <= 0) {
    return {text.substr(0, 1), 1};
  }
  return {text.substr(0, static_cast<std::size_t>(length)), static_cast<std::size_t>(std::max(utf8proc_charwidth(code), 0))};
}

bool is_valid(const Character& character) {
  return character.bytes.size() > 1 || static_cast<unsigned char>(character.bytes[0]) < 0x80U;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return (character.size() == 1 && (first < 0x20U || first == 0x7FU)) ||
         (character.size() == 2 && first == 0xC2U && static_cast<unsigned char>(character[1]) < 0xA0U);
}

std::vector<Character> printable_characters(std::string_view text) {
  std::vector<Character> characters;
  while (!text.empty()) {
    Character character = next_character(text);
    text.remove_prefix(character.bytes.size());
    if (!is_valid(character) || is_control(character.bytes)) {
      character = {kReplacement, 1};
    }
    characters.push_back(character);
  }
  return characters;
}

std::size_t width_of(const std::vector<Character>& characters) {
  std::size_t width = 0;
  for (const Character& character : characters) {
    width += character.width;
  }
  return width;
}

std::size_t missing_to(std::size_t width, std::string_view text) { return width - std::min(display_width(text), width); }

}  // namespace

std::string_view valid_utf8(std::string_view text, std::string& storage) {
  std::size_t good = 0;
  while (good < text.size()) {
    const Character character = next_character(text.substr(good));
    if (!is_valid(character)) {
      break;
    }
    good += character.bytes.size();
  }
  if (good == text.size()) {
    return text;
  }
  storage.assign(text.substr(0, good));
  for (std::string_view rest = text.substr(good); !rest.empty();) {
    const Character character = next_character(rest);
    storage += is_valid(character) ? character.bytes : kReplacement;
    rest.remove_prefix(character.bytes.size());
  }
  return storage;
}

std::size_t display_width(std::string_view text) { return width_of(printable_characters(text)); }

std::string fit(std::string_view text, std::size_t width, Cut cut) {
  const std::vector<Character> characters = printable_characters(text);
  std::string out;
  if (width_of(characters) <= width) {
    for (const Character& character : characters) {
      out += character.bytes;
    }
    return out;
  }
  // The tail gets the larger half: names of modules end with what tells them apart.
  const std::size_t head_width = cut == Cut::kEnd ? width - 1 : (width - 1) / 3;
  const std::size_t tail_width = width - 1 - head_width;
  std::size_t used = 0;
  for (const Character& character : characters) {
    if (used + character.width > head_width) {
      break;
    }
    used += character.width;
    out += character.bytes;
  }
  out += kEllipsis;
  std::size_t first = characters.size();
  used = 0;
  while (first > 0 && used + characters[first - 1].width <= tail_width) {
    used += characters[--first].width;
  }
  for (; first < characters.size(); ++first) {
    out += characters[first].bytes;
  }
  return out;
}

std::string fit_left(std::string_view text, std::size_t width, Cut cut) {
  std::string out = fit(text, width, cut);
  out.append(missing_to(width, out), ' ');
  return out;
}

std::string fit_right(std::string_view text, std::size_t width) {
  const std::string out = fit(text, width);
  return std::string(missing_to(width, out), ' ') + out;
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) {
    return text;
  }
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) {
    --bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace msprobe::report

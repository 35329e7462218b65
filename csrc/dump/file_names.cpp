// SPDX-License-Identifier: Apache-2.0
// Makes a safe, unique name of an entry and a path.
#include "dump/file_names.h"

#include <array>
#include <charconv>
#include <string_view>

#include "dump/entries.h"
#include "format/fields.h"

namespace msprobe::dump {
namespace {

constexpr std::size_t kHashDigits = 16;

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

std::string plain(std::string text) {
  for (char& c : text) {
    c = is_plain(c) ? c : '_';
  }
  return text;
}

// FNV-1a, 64 bits: the same in every process.
std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  std::string digits(kHashDigits, '0');
  std::array<char, kHashDigits> buffer{};
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), hash, 16);
  const auto length = static_cast<std::size_t>(end - buffer.data());
  digits.replace(kHashDigits - length, length, buffer.data(), length);
  return digits;
}

// input.0, input.mask, output.0.logits
std::string place_name(const log::Tag& tag) {
  std::string name(tag.section == log::Section::kOutput ? field::kOutput : field::kInput);
  for (const log::PathElement& element : tag.path) {
    name.append(".").append(element.text);
  }
  return name;
}

std::string full_name(const log::Tag& tag, std::string_view call) { return entry_name(tag, call) + "." + place_name(tag); }

// What no other place of a step has: in a full name "a.b" may be one key or two.
std::string identity(const log::Tag& tag, std::string_view call) {
  std::string text = entry_name(tag, call);
  text.append(1, '\0').append(1, static_cast<char>('0' + static_cast<int>(tag.section)));
  for (const log::PathElement& element : tag.path) {
    text.append(1, '\0').append(1, element.is_key ? '.' : '#').append(element.text);
  }
  return text;
}

// The end tells a call's tensors apart, the beginning the calls: both are kept.
std::string shortened(const std::string& name, std::size_t most, const std::string& hash) {
  std::string middle("-");
  middle.append(hash).append("-");
  const std::size_t room = most - middle.size();
  const std::size_t head = room * 2 / 3;
  return name.substr(0, head) + middle + name.substr(name.size() - (room - head));
}

}  // namespace

// Whether another place of the model has this plain name already.
bool FileNames::is_taken(const log::Tag& tag, const std::string& plain_name) {
  const std::uint64_t owner = (std::uint64_t{tag.name_id} << 32U) | tag.place;
  const std::lock_guard lock(mutex_);
  return owners_.try_emplace(plain_name, owner).first->second != owner;
}

FileName FileNames::of(const log::Tag& tag, std::int64_t call_index) {
  const std::string full = full_name(tag, std::to_string(call_index));
  std::string name = plain(full);
  const bool ambiguous = is_taken(tag, plain(full_name(tag, "#")));
  const std::size_t most = kMaxFileName - field::kPtSuffix.size();
  if (ambiguous) {
    name.append("-").append(hash_of(identity(tag, std::to_string(call_index))));
  }
  if (name.size() > most) {
    name = shortened(name, most, hash_of(identity(tag, std::to_string(call_index))));
  }
  const bool changed = name != full;
  return {name.append(field::kPtSuffix), changed ? full : std::string{}};
}

}  // namespace msprobe::dump

// SPDX-License-Identifier: Apache-2.0
// Reads and numbers tags.
#include "log/tag.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "base/error.h"

namespace msprobe::log {
namespace {

constexpr std::size_t kFields = 5;

constexpr std::string_view kind_letter(EntryKind kind) { return kind == EntryKind::kModule ? "m" : "a"; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

std::string unescape(std::string_view text, std::string_view whole) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain.push_back(text[i]);
      continue;
    }
    const int first = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int second = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (first < 0 || second < 0) {
      fail("tag '", whole, "': '%' must be followed by two hexadecimal digits");
    }
    plain.push_back(static_cast<char>(first * 16 + second));
    i += 2;
  }
  return plain;
}

std::array<std::string_view, kFields> split_fields(std::string_view text) {
  std::array<std::string_view, kFields> fields;
  std::size_t start = 0;
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::size_t end = text.find('|', start);
    if ((end == std::string_view::npos) != (i + 1 == kFields)) {
      fail("tag '", text, "': must have ", kFields, " fields separated by '|'");
    }
    fields[i] = text.substr(start, end == std::string_view::npos ? end : end - start);
    start = end + 1;
  }
  return fields;
}

std::vector<PathElement> parse_path(std::string_view text, std::string_view whole) {
  std::vector<PathElement> path;
  while (true) {
    const std::size_t end = text.find('/');
    const std::string_view step = text.substr(0, end);
    if (step.empty() || (step.front() != '#' && step.front() != '.')) {
      fail("tag '", whole, "': each step of the path must start with '#' or '.', got '", step, "'");
    }
    PathElement element{step.front() == '.', unescape(step.substr(1), whole)};
    const bool digits = !element.text.empty() &&
                        std::all_of(element.text.begin(), element.text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!element.is_key && !digits) {
      fail("tag '", whole, "': an index must be decimal digits, got '", element.text, "'");
    }
    path.push_back(std::move(element));
    if (end == std::string_view::npos) {
      return path;
    }
    text.remove_prefix(end + 1);
  }
}

Section parse_section(std::string_view text, std::string_view whole) {
  if (text == "args") {
    return Section::kInputArgs;
  }
  if (text == "kwargs") {
    return Section::kInputKwargs;
  }
  if (text == "out") {
    return Section::kOutput;
  }
  if (text == "params") {
    return Section::kParameters;
  }
  fail("tag '", whole, "': section must be args, kwargs, out or params, got '", text, "'");
}

}  // namespace

Tag parse_tag(std::string_view text) {
  const auto [kind, name, section, path, marks] = split_fields(text);
  Tag tag;
  if (kind != kind_letter(EntryKind::kModule) && kind != kind_letter(EntryKind::kApi)) {
    fail("tag '", text, "': kind must be m or a, got '", kind, "'");
  }
  tag.kind = kind == kind_letter(EntryKind::kModule) ? EntryKind::kModule : EntryKind::kApi;
  tag.name = unescape(name, text);
  if (tag.name.empty()) {
    fail("tag '", text, "': the name is empty");
  }
  tag.section = parse_section(section, text);
  tag.path = parse_path(path, text);
  for (const char mark : marks) {
    if (mark == '^') {
      tag.opens_call = true;
    } else if (mark == '$') {
      tag.closes_call = true;
    } else {
      fail("tag '", text, "': marks must be '^' or '$', got '", mark, "'");
    }
  }
  return tag;
}

TagId TagTable::intern(std::string_view text) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = ids_.find(text); found != ids_.end()) {
      return found->second;
    }
  }
  Tag tag = parse_tag(text);
  const std::unique_lock lock(mutex_);
  const auto [place, is_new] = ids_.try_emplace(std::string(text), static_cast<TagId>(tags_.size()));
  if (is_new) {
    const auto fields = split_fields(text);
    tag.name_id = number(names_, kind_letter(tag.kind), tag.name);
    has_calls_.resize(names_.size(), false);
    has_calls_[tag.name_id] = has_calls_[tag.name_id] || tag.section != Section::kParameters;
    tag.place = number(places_, fields[2], fields[3]);
    tags_.push_back(std::move(tag));
  }
  return place->second;
}

bool TagTable::knows_call(EntryKind kind, std::string_view name) const {
  std::string both(kind_letter(kind));
  both.append("|").append(name);
  const std::shared_lock lock(mutex_);
  const auto found = names_.find(both);
  return found != names_.end() && has_calls_[found->second];
}

std::uint32_t TagTable::number(Numbers& numbers, std::string_view first, std::string_view second) {
  std::string both(first);
  both.append("|").append(second);
  return numbers.try_emplace(std::move(both), static_cast<std::uint32_t>(numbers.size())).first->second;
}

const Tag& TagTable::operator[](TagId id) const {
  const std::shared_lock lock(mutex_);
  return tags_[id];
}

}  // namespace msprobe::log

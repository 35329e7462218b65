// SPDX-License-Identifier: Apache-2.0
// Keeps nodes in one vector and all their characters in one string.
#include "read/json_tree.h"

#include <bit>
#include <charconv>
#include <cstdlib>

#include "read/python_text.h"

namespace msprobe::read {

void JsonTree::clear() {
  nodes_.assign(1, JsonNode{});
  characters_.clear();
  open_.clear();
  depth_ = 0;
  key_size_ = 0;
  problem_ = {};
}

void JsonTree::key(std::string_view text) {
  if (depth_ != open_.size() || !problem_.empty()) {
    return;
  }
  key_ = characters_.size();
  key_size_ = static_cast<std::uint32_t>(text.size());
  characters_ += text;
}

std::uint32_t JsonTree::add(JsonKind kind, std::string_view text) {
  if (nodes_.size() >= kMostNodes || characters_.size() + text.size() > kMostCharacters) {
    problem_ = "it has more than 4,194,304 values or 256 MiB of text";
    return 0;
  }
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  JsonNode& added = nodes_.emplace_back();
  added.kind = kind;
  added.key = key_;
  added.key_size = key_size_;
  key_size_ = 0;
  added.text = characters_.size();
  added.text_size = static_cast<std::uint32_t>(text.size());
  characters_ += text;
  if (!open_.empty()) {
    JsonNode& parent = nodes_[open_.back()];
    if (parent.count == 0) {
      parent.first = node;
    } else {
      nodes_[parent.last].next = node;
    }
    parent.last = node;
    ++parent.count;
  }
  return node;
}

void JsonTree::scalar(JsonKind kind, std::string_view text) {
  if (depth_ == open_.size() && problem_.empty()) {
    add(kind, text);
  }
}

void JsonTree::open(JsonKind kind) {
  if (depth_ == open_.size() && problem_.empty()) {
    if (depth_ >= kDeepest) {
      problem_ = "it is nested deeper than 400 levels";
    } else if (const std::uint32_t node = add(kind, {}); node != 0) {
      open_.push_back(node);
    }
  }
  ++depth_;
}

void JsonTree::close() {
  if (depth_ == open_.size()) {
    open_.pop_back();
  }
  --depth_;
}

std::uint32_t JsonTree::child(std::uint32_t object, std::string_view key) const {
  std::uint32_t found = 0;
  if (nodes_[object].kind == JsonKind::kObject) {
    for (std::uint32_t node = nodes_[object].first; node != 0; node = nodes_[node].next) {
      if (key_of(node) == key) {
        found = node;
      }
    }
  }
  return found;
}

ParsedNumber parse_number(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const bool whole = text.find_first_of(".eEnI") == std::string_view::npos;  // NaN has an N, and an N only
  if (whole && text != "NaN") {
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(begin, end, integer); read.ec == std::errc() && read.ptr == end) {
      return {NumberKind::kInteger, static_cast<std::uint64_t>(integer)};
    }
    std::uint64_t natural = 0;
    if (const auto read = std::from_chars(begin, end, natural); read.ec == std::errc() && read.ptr == end) {
      return {NumberKind::kUnsigned, natural};
    }
  }
  double real = 0;
  if (std::from_chars(begin, end, real).ec == std::errc::result_out_of_range) {
    real = std::strtod(std::string(text).c_str(), nullptr);  // infinite or (nearly) zero, as Python reads it
  }
  return {NumberKind::kReal, std::bit_cast<std::uint64_t>(real)};
}

namespace {

void append_number_text(std::string& out, std::string_view text) {
  const ParsedNumber number = parse_number(text);
  if (number.kind == NumberKind::kReal) {
    append_python_float(out, std::bit_cast<double>(number.payload));
  } else {
    out += text == "-0" ? "0" : text;
  }
}

}  // namespace

// The tree is bounded in depth, so recursion is too.
void append_python_text(std::string& out, const JsonTree& tree, std::uint32_t node) {  // NOLINT(misc-no-recursion)
  const JsonNode& value = tree[node];
  switch (value.kind) {
    case JsonKind::kNull:
      out += "None";
      return;
    case JsonKind::kFalse:
      out += "False";
      return;
    case JsonKind::kTrue:
      out += "True";
      return;
    case JsonKind::kNumber:
      append_number_text(out, tree.text_of(node));
      return;
    case JsonKind::kString:
      out += tree.text_of(node);
      return;
    default:
      break;
  }
  const bool object = value.kind == JsonKind::kObject;
  out += object ? '{' : '[';
  for (std::uint32_t child = value.first; child != 0; child = tree[child].next) {
    if (child != value.first) {
      out += ", ";
    }
    if (object) {
      append_python_string(out, tree.key_of(child));
      out += ": ";
    }
    if (tree[child].kind == JsonKind::kString) {
      append_python_string(out, tree.text_of(child));
    } else {
      append_python_text(out, tree, child);
    }
  }
  out += object ? '}' : ']';
}

}  // namespace msprobe::read

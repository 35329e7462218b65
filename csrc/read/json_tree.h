// SPDX-License-Identifier: Apache-2.0
// The JSON of one op as a tree, in memory that is used again for the next op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/dump_model.h"

namespace msprobe::read {

enum class JsonKind : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kList, kObject };

struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  std::uint32_t next = 0;   // sibling; 0: none
  std::uint32_t first = 0;  // child; 0: none
  std::uint32_t last = 0;   // child
  std::uint32_t count = 0;  // children
  std::uint32_t key_size = 0;
  std::uint32_t text_size = 0;  // of a string or a number, as it stands in the file
  std::size_t key = 0;          // where it begins in the characters
  std::size_t text = 0;
};

// Filled by the events of a parser, from one value to its end. Nodes are numbers: 1 is the first.
class JsonTree {
 public:
  JsonTree() { clear(); }
  void clear();

  void key(std::string_view text);
  void scalar(JsonKind kind, std::string_view text = {});
  void open(JsonKind kind);
  void close();

  [[nodiscard]] bool empty() const noexcept { return nodes_.size() == 1; }
  [[nodiscard]] bool complete() const noexcept { return !empty() && depth_ == 0; }
  // Why not all of the value is kept: it is deeper or larger than any dump's. Empty if it is.
  [[nodiscard]] std::string_view problem() const noexcept { return problem_; }

  [[nodiscard]] const JsonNode& operator[](std::uint32_t node) const { return nodes_[node]; }
  [[nodiscard]] std::string_view key_of(std::uint32_t node) const {
    return {characters_.data() + nodes_[node].key, nodes_[node].key_size};
  }
  [[nodiscard]] std::string_view text_of(std::uint32_t node) const {
    return {characters_.data() + nodes_[node].text, nodes_[node].text_size};
  }
  // The child of that key; of several the last, as in Python. 0: none.
  [[nodiscard]] std::uint32_t child(std::uint32_t object, std::string_view key) const;

 private:
  static constexpr std::size_t kDeepest = 400;
  static constexpr std::size_t kMostNodes = std::size_t{1} << 22U;
  static constexpr std::size_t kMostCharacters = std::size_t{1} << 28U;

  std::uint32_t add(JsonKind kind, std::string_view text);

  std::vector<JsonNode> nodes_;
  std::string characters_;
  std::vector<std::uint32_t> open_;  // from the outermost in
  std::size_t depth_ = 0;            // may exceed open_: what is too deep is not kept
  std::size_t key_ = 0;              // of the next value
  std::uint32_t key_size_ = 0;
  std::string_view problem_;
};

// A number as the model keeps it. `text` is a JSON number, NaN, Infinity or -Infinity.
struct ParsedNumber {
  NumberKind kind = NumberKind::kReal;
  std::uint64_t payload = 0;
};
ParsedNumber parse_number(std::string_view text);

// str() of the value in Python: [1, 'a', None], {'k': 1.5}, True, ...
void append_python_text(std::string& out, const JsonTree& tree, std::uint32_t node);

}  // namespace msprobe::read

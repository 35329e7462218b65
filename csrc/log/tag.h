// SPDX-License-Identifier: Apache-2.0
// A tag says which tensor of which call a record belongs to. Tags travel as plain strings through the operators, because a
// string constant is all that a traced graph can carry without state of Python's; here they are read once and numbered.
#pragma once

#include <cstdint>
#include <deque>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msprobe::log {

using TagId = std::uint32_t;
using NameId = std::uint32_t;  // of kind and name

enum class EntryKind : std::uint8_t { kModule, kApi };
enum class Section : std::uint8_t { kInputArgs, kInputKwargs, kOutput, kParameters };

// One step into a nested argument: an index of a sequence or a key of a mapping.
struct PathElement {
  bool is_key = false;
  std::string text;  // the index in decimal digits, or the key

  bool operator==(const PathElement&) const = default;
};

// Written as `kind|name|section|path|marks`:
//   kind     m (module) or a (API)
//   name     the entry's name without its call number, e.g. Module.layers.0.attn.Attention or Aten.addmm
//   section  args, kwargs, out, or params (of a module itself, in no call of it)
//   path     #INDEX or .KEY, joined by '/', e.g. #0 or .mask or #1/.logits
//   marks    '^' on the first tensor of a call, '$' on the last one: with them, calls of one name may repeat and nest, and
//            tensors still find their call without any counter at trace time
// '%', '|' and '/' inside a name or key stand as %25, %7C and %2F.
struct Tag {
  EntryKind kind = EntryKind::kModule;
  std::string name;
  Section section = Section::kInputArgs;
  std::vector<PathElement> path;
  bool opens_call = false;
  bool closes_call = false;
  // Given by TagTable:
  NameId name_id = 0;       // kinds have separate name spaces: a module tree can hold a class called like an API
  std::uint32_t place = 0;  // number of section and path, the same whatever the marks
};

// Throws Error on anything that is not of the form above.
Tag parse_tag(std::string_view text);

// Numbers tags in the order of their first use. Thread-safe; references stay valid for the table's life.
class TagTable {
 public:
  TagId intern(std::string_view text);
  const Tag& operator[](TagId id) const;
  // Whether any tag of a call of this name has been used.
  [[nodiscard]] bool knows_call(EntryKind kind, std::string_view name) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, TagId, Hash, std::equal_to<>> ids_;
  using Numbers = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;
  static std::uint32_t number(Numbers& numbers, std::string_view first, std::string_view second);

  Numbers names_;
  std::vector<bool> has_calls_;  // by NameId
  Numbers places_;
  std::deque<Tag> tags_;
};

}  // namespace msprobe::log

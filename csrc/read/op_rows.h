// SPDX-License-Identifier: Apache-2.0
// Turns the JSON of one op into leaves: which sections count, how names are made, what a leaf is.
#pragma once

#include <string>
#include <string_view>

#include "read/dump_model.h"
#include "read/json_tree.h"

namespace msprobe::read {

// What the last two dot-separated parts of an op's name say.
enum class OpKind : std::uint8_t { kForward, kBackward, kParametersGrad, kUnknown };
OpKind op_kind(std::string_view name);

class OpRows {
 public:
  explicit OpRows(DumpModel& model) : model_(model) {}

  // Adds the op and its leaves. `root` is the node of the value; a value that is no mapping gives one broken leaf.
  void add(std::string_view name, const JsonTree& tree);

 private:
  void section(std::uint32_t node, std::string_view suffix, Section section);
  void walk(std::uint32_t node);
  void walk_members(std::uint32_t node);
  void bare(std::uint32_t node);
  void leaf(std::uint32_t node);
  void value_leaf(Leaf& leaf, std::string_view type, std::uint32_t value, std::uint32_t ranks, std::uint32_t shape);
  void all_four(Leaf& leaf, std::uint32_t value);
  void special(Leaf& leaf, std::uint32_t words);
  void counts(std::uint32_t node);
  void order(Op& op, std::uint32_t node);
  void broken(std::string_view problem);

  Leaf& new_leaf();
  void finish_leaf(Leaf& leaf);
  void set_number(Leaf& leaf, std::size_t statistic, std::uint32_t node);
  void set_shape(Leaf& leaf, std::string_view text);
  std::string_view python_text(std::uint32_t node);
  void problem(std::string_view text);

  DumpModel& model_;
  const JsonTree* tree_ = nullptr;
  Section section_ = Section::kInput;
  std::string suffix_;  // of the node at hand
  std::string text_;
  Extra extra_;  // of the leaf at hand
  bool has_extra_ = false;
};

}  // namespace msprobe::read

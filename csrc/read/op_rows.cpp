// SPDX-License-Identifier: Apache-2.0
// Sections, containers and names of rows. What a leaf holds is in leaf_rows.cpp.
#include "read/op_rows.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "format/fields.h"

namespace msprobe::read {
namespace {

constexpr std::uint32_t kRoot = 1;
// Names of rows are put together from keys, so a small file could make very many very long ones.
constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kMostNames = std::size_t{1} << 29U;  // bytes
constexpr std::string_view kNameTooLong = "a name in it has more than 4,096 characters";

bool is_empty_value(const JsonTree& tree, std::uint32_t node) {
  const JsonNode& value = tree[node];
  switch (value.kind) {
    case JsonKind::kFalse:
      return true;
    case JsonKind::kNumber: {
      const ParsedNumber number = parse_number(tree.text_of(node));
      // Without the sign bit: -0.0 is empty too.
      return number.kind == NumberKind::kReal ? (number.payload << 1U) == 0 : number.payload == 0;
    }
    case JsonKind::kList:
    case JsonKind::kObject:
      return value.count == 0;
    default:
      return false;
  }
}

// A mapping that is a record: it says its type, or it has what only a tensor's record has.
bool is_leaf(const JsonTree& tree, std::uint32_t node) {
  if (const std::uint32_t type = tree.child(node, field::kType); type != 0 && tree[type].kind == JsonKind::kString) {
    return true;
  }
  const auto is_plain = [&](std::string_view key) {
    const std::uint32_t child = tree.child(node, key);
    return child != 0 && tree[child].kind != JsonKind::kObject && tree[child].kind != JsonKind::kList;
  };
  return is_plain(field::kDtype) || (is_plain(field::kMax) && is_plain(field::kMin));
}

// Members of a mapping as Python has them: of several with one key the last value, at the place of the first.
std::vector<std::uint32_t> members(const JsonTree& tree, std::uint32_t node) {
  std::vector<std::uint32_t> kept;
  kept.reserve(tree[node].count);
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::uint32_t child = tree[node].first; child != 0; child = tree[child].next) {
    const auto [place, is_new] = places.try_emplace(tree.key_of(child), kept.size());
    if (is_new) {
      kept.push_back(child);
    } else {
      kept[place->second] = child;
    }
  }
  return kept;
}

}  // namespace

OpKind op_kind(std::string_view name) {
  const std::size_t last_dot = name.rfind('.');
  const std::string_view last = last_dot == std::string_view::npos ? name : name.substr(last_dot + 1);
  const std::string_view head = last_dot == std::string_view::npos ? std::string_view{} : name.substr(0, last_dot);
  const std::size_t dot = head.rfind('.');
  const std::string_view before = dot == std::string_view::npos ? head : head.substr(dot + 1);
  const auto has = [&](std::string_view word) { return last == word || before == word; };
  if (has(field::kParametersGrad)) {
    return OpKind::kParametersGrad;
  }
  if (has(field::kForward)) {
    return OpKind::kForward;
  }
  return has(field::kBackward) ? OpKind::kBackward : OpKind::kUnknown;
}

void OpRows::add(std::string_view name, const JsonTree& tree) {
  tree_ = &tree;
  Op op;
  op.name = model_.texts.add(name.substr(0, kLongestName));
  op.first_leaf = static_cast<std::uint32_t>(model_.leaves.size());
  model_.ops.push_back(op);
  suffix_.clear();
  section_ = Section::kInput;
  if (!tree.problem().empty()) {
    broken(tree.problem());
  } else if (name.size() > kLongestName) {
    broken(kNameTooLong);
  } else if (tree[kRoot].kind != JsonKind::kObject) {
    broken("it is " + std::string(python_text(kRoot).substr(0, 40)) + ", not a mapping of sections");
  } else {
    const OpKind kind = op_kind(name);
    if (kind == OpKind::kParametersGrad) {
      section(kRoot, "", Section::kParametersGrad);
    } else {
      section(tree.child(kRoot, field::kInputArgs), ".input", Section::kInput);
      section(tree.child(kRoot, field::kInputKwargs), ".input", Section::kInput);
      section(tree.child(kRoot, field::kInput), ".input", Section::kInput);
      section(tree.child(kRoot, field::kParameters), ".parameters", Section::kParameters);
      section(tree.child(kRoot, field::kOutput), ".output", Section::kOutput);
      if (kind == OpKind::kUnknown && model_.leaves.size() == op.first_leaf) {
        section(kRoot, "", Section::kInput);
      }
    }
    order(model_.ops.back(), tree.child(kRoot, field::kOrder));
  }
  model_.ops.back().leaf_count = static_cast<std::uint32_t>(model_.leaves.size() - op.first_leaf);
}

void OpRows::section(std::uint32_t node, std::string_view suffix, Section section) {
  if (node == 0) {
    return;
  }
  section_ = section;
  suffix_ = suffix;
  walk(node);
}

// As deep as the tree, which is bounded.
void OpRows::walk(std::uint32_t node) {  // NOLINT(misc-no-recursion)
  const JsonTree& tree = *tree_;
  if (suffix_.size() > kLongestName || model_.suffixes.memory() > kMostNames) {
    suffix_.resize(std::min(suffix_.size(), kLongestName / 16));
    broken(kNameTooLong);
    return;
  }
  switch (tree[node].kind) {
    case JsonKind::kNull:
      bare(node);
      return;
    case JsonKind::kString:
      return;
    case JsonKind::kObject:
    case JsonKind::kList:
      walk_members(node);
      return;
    default:
      if (!is_empty_value(tree, node)) {
        bare(node);
      }
  }
}

void OpRows::walk_members(std::uint32_t node) {  // NOLINT(misc-no-recursion)
  const JsonTree& tree = *tree_;
  const std::size_t length = suffix_.size();
  if (tree[node].kind == JsonKind::kList) {
    std::uint32_t index = 0;
    for (std::uint32_t child = tree[node].first; child != 0; child = tree[child].next, ++index) {
      if (section_ != Section::kParametersGrad) {
        suffix_ += '.';
        suffix_ += std::to_string(index);
      }
      walk(child);
      suffix_.resize(length);
    }
    return;
  }
  if (const std::uint32_t type = tree.child(node, field::kType);
      type != 0 && tree[type].kind == JsonKind::kString && tree.text_of(type) == field::kTypeP2POp) {
    const Extra outer = extra_;
    if (const std::uint32_t op = tree.child(node, field::kP2POpName); op != 0) {
      extra_.p2p_op = model_.texts.intern(python_text(op));
      has_extra_ = true;
    }
    if (const std::uint32_t peer = tree.child(node, field::kPeer); peer != 0) {
      extra_.p2p_peer = model_.texts.intern(python_text(peer));
      has_extra_ = true;
    }
    if (const std::uint32_t tensor = tree.child(node, field::kTensor); tensor != 0) {
      walk(tensor);
    }
    extra_ = outer;
    has_extra_ = false;
    return;
  }
  if (is_leaf(tree, node)) {
    leaf(node);
    return;
  }
  for (const std::uint32_t child : members(tree, node)) {
    suffix_ += '.';
    suffix_ += tree.key_of(child);
    walk(child);
    suffix_.resize(length);
  }
}

void OpRows::order(Op& op, std::uint32_t node) {
  const auto stamp = [&](std::string_view key) -> std::int64_t {
    const std::uint32_t child = node == 0 ? 0 : tree_->child(node, key);
    if (child == 0 || (*tree_)[child].kind != JsonKind::kNumber) {
      return -1;
    }
    const ParsedNumber number = parse_number(tree_->text_of(child));
    const auto value = static_cast<std::int64_t>(number.payload);
    return number.kind == NumberKind::kInteger && value >= 0 ? value : -1;
  };
  op.order_first = stamp(field::kOrderFirst);
  op.order_last = stamp(field::kOrderLast);
}

void OpRows::broken(std::string_view problem_text) {
  Leaf& leaf = new_leaf();
  leaf.kind = LeafKind::kBroken;
  leaf.dtype = model_.dtypes.intern("N/A");
  set_shape(leaf, "N/A");
  problem(problem_text);
  finish_leaf(leaf);
}

}  // namespace msprobe::read

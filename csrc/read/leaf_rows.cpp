// SPDX-License-Identifier: Apache-2.0
// What one leaf holds: dtype, shape, the four numbers, and what only some leaves have.
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "format/fields.h"
#include "read/op_rows.h"

namespace msprobe::read {
namespace {

constexpr std::string_view kNone = "None";
constexpr std::string_view kNotAvailable = "N/A";
constexpr std::string_view kNoShape = "[]";
constexpr std::array<std::string_view, kStatistics> kStatisticKeys = {field::kMax, field::kMin, field::kMean, field::kNorm};

// type() of a JSON value in Python.
std::string_view python_type(const JsonTree& tree, std::uint32_t node) {
  if (node == 0) {
    return "<class 'NoneType'>";
  }
  switch (tree[node].kind) {
    case JsonKind::kNull:
      return "<class 'NoneType'>";
    case JsonKind::kFalse:
    case JsonKind::kTrue:
      return "<class 'bool'>";
    case JsonKind::kNumber:
      return parse_number(tree.text_of(node)).kind == NumberKind::kReal ? "<class 'float'>" : "<class 'int'>";
    case JsonKind::kString:
      return "<class 'str'>";
    case JsonKind::kList:
      return "<class 'list'>";
    default:
      return "<class 'dict'>";
  }
}

bool is_rank_argument(std::string_view suffix) {
  const std::string_view last = suffix.substr(suffix.rfind('.') + 1);
  return last == "src" || last == "dst" || last == "group_src" || last == "group_dst";
}

}  // namespace

Leaf& OpRows::new_leaf() {
  Leaf& leaf = model_.leaves.emplace_back();
  leaf.op = static_cast<std::uint32_t>(model_.ops.size() - 1);
  leaf.section = section_;
  leaf.suffix = model_.suffixes.intern(suffix_);
  return leaf;
}

void OpRows::finish_leaf(Leaf& leaf) {
  if (has_extra_) {
    leaf.extra = static_cast<std::uint32_t>(model_.extras.size());
    model_.extras.push_back(extra_);
  }
  const Extra around{.p2p_op = extra_.p2p_op, .p2p_peer = extra_.p2p_peer};
  has_extra_ = around.p2p_op != 0 || around.p2p_peer != 0;
  extra_ = around;
}

std::string_view OpRows::python_text(std::uint32_t node) {
  text_.clear();
  append_python_text(text_, *tree_, node);
  return text_;
}

void OpRows::problem(std::string_view text) {
  if (extra_.problem == 0) {
    extra_.problem = model_.texts.intern(text);
    has_extra_ = true;
  }
}

void OpRows::set_number(Leaf& leaf, std::size_t statistic, std::uint32_t node) {
  const JsonTree& tree = *tree_;
  switch (tree[node].kind) {
    case JsonKind::kNull:
      leaf.kinds[statistic] = NumberKind::kNull;
      return;
    case JsonKind::kFalse:
      leaf.kinds[statistic] = NumberKind::kFalse;
      return;
    case JsonKind::kTrue:
      leaf.kinds[statistic] = NumberKind::kTrue;
      return;
    case JsonKind::kNumber: {
      const ParsedNumber number = parse_number(tree.text_of(node));
      leaf.kinds[statistic] = number.kind;
      leaf.payload[statistic] = number.payload;
      return;
    }
    default:
      leaf.kinds[statistic] = NumberKind::kText;
      leaf.payload[statistic] = model_.texts.intern(python_text(node));
  }
}

void OpRows::set_shape(Leaf& leaf, std::string_view text) {
  leaf.shape = model_.shapes.intern(text);
  if (leaf.shape < model_.sizes.size()) {
    return;
  }
  std::vector<std::int64_t>& sizes = model_.sizes.emplace_back();
  if (text.size() < 2 || text.front() != '[') {
    return;
  }
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    std::int64_t size = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
    if (read.ec != std::errc()) {
      sizes.clear();
      return;
    }
    sizes.push_back(size);
    const std::size_t comma = text.find(", ");
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 2);
  }
}

void OpRows::all_four(Leaf& leaf, std::uint32_t value) {
  for (std::size_t statistic = 0; statistic < kStatistics; ++statistic) {
    if (value == 0) {
      leaf.kinds[statistic] = NumberKind::kNull;
    } else {
      set_number(leaf, statistic, value);
    }
  }
}

void OpRows::bare(std::uint32_t node) {
  Leaf& leaf = new_leaf();
  if ((*tree_)[node].kind == JsonKind::kNull) {
    leaf.kind = LeafKind::kNull;
    leaf.dtype = model_.dtypes.intern(kNotAvailable);
    set_shape(leaf, kNotAvailable);
  } else {
    leaf.kind = LeafKind::kValue;
    leaf.dtype = model_.dtypes.intern(python_type(*tree_, node));
    set_shape(leaf, kNoShape);
    extra_.value = model_.texts.intern(python_text(node));
    has_extra_ = true;
  }
  all_four(leaf, (*tree_)[node].kind == JsonKind::kNull ? 0 : node);
  finish_leaf(leaf);
}

void OpRows::leaf(std::uint32_t node) {
  const JsonTree& tree = *tree_;
  std::uint32_t type = 0;
  std::uint32_t dtype = 0;
  std::uint32_t shape = 0;
  std::uint32_t value = 0;
  std::uint32_t ranks = 0;
  std::uint32_t words = 0;
  std::uint32_t counted = 0;
  std::uint32_t note = 0;
  std::uint32_t grad = 0;
  std::uint32_t md5 = 0;
  std::uint32_t data_name = 0;
  std::array<std::uint32_t, kStatistics> statistics{};
  const std::array<std::pair<std::string_view, std::uint32_t*>, 15> places = {{
      {field::kType, &type},
      {field::kDtype, &dtype},
      {field::kShape, &shape},
      {field::kMax, &statistics[kMax]},
      {field::kMin, &statistics[kMin]},
      {field::kMean, &statistics[kMean]},
      {field::kNorm, &statistics[kNorm]},
      {field::kRequiresGrad, &grad},
      {field::kCounts, &counted},
      {field::kDataName, &data_name},
      {field::kMd5, &md5},
      {field::kValue, &value},
      {field::kGroupRanks, &ranks},
      {field::kSpecial, &words},
      {field::kNote, &note},
  }};
  for (std::uint32_t child = tree[node].first; child != 0; child = tree[child].next) {
    const std::string_view key = tree.key_of(child);
    for (const auto& [name, place] : places) {
      if (key == name) {
        *place = child;  // of several the last, as in Python
        break;
      }
    }
  }

  Leaf& leaf = new_leaf();
  bool any_statistic = false;
  for (std::size_t statistic = 0; statistic < kStatistics; ++statistic) {
    const std::uint32_t number = statistics[statistic];
    if (number != 0) {
      any_statistic = true;
      set_number(leaf, statistic, number);
      if (tree[number].kind == JsonKind::kList || tree[number].kind == JsonKind::kObject) {
        problem(std::string(kStatisticKeys[statistic]) + " is not a number");
      }
    }
  }
  const bool has_dtype = dtype != 0 && tree[dtype].kind != JsonKind::kNull;
  const std::string_view type_text =
      type != 0 && tree[type].kind == JsonKind::kString ? tree.text_of(type) : std::string_view{};
  if (has_dtype || (any_statistic && type_text != field::kTypeSize && type_text != field::kTypeSlice)) {
    leaf.kind = LeafKind::kTensor;
    leaf.dtype = model_.dtypes.intern(has_dtype ? python_text(dtype) : kNotAvailable);
    set_shape(leaf, shape == 0 ? kNone : python_text(shape));
    if (shape != 0 && tree[shape].kind != JsonKind::kList && tree[shape].kind != JsonKind::kNull) {
      problem("shape is not a list");
    }
  } else {
    value_leaf(leaf, type_text, value, ranks, shape);
  }
  if (words != 0) {
    special(leaf, words);
  }
  if (counted != 0) {
    counts(counted);
  }
  if (grad != 0 && tree[grad].kind != JsonKind::kNull) {
    if (tree[grad].kind == JsonKind::kTrue || tree[grad].kind == JsonKind::kFalse) {
      leaf.requires_grad = tree[grad].kind == JsonKind::kTrue ? RequiresGrad::kTrue : RequiresGrad::kFalse;
    } else {
      problem("requires_grad is neither true nor false");
    }
  }
  const auto text_member = [&](std::uint32_t member, TextId& id, bool own) {
    if (member != 0 && tree[member].kind != JsonKind::kNull && !python_text(member).empty()) {
      id = own ? model_.texts.add(text_) : model_.texts.intern(text_);
      has_extra_ = true;
    }
  };
  text_member(md5, extra_.md5, true);
  text_member(data_name, extra_.data_name, true);
  text_member(note, extra_.note, false);
  model_.has_md5 = model_.has_md5 || extra_.md5 != 0;
  model_.has_data_names = model_.has_data_names || extra_.data_name != 0;
  finish_leaf(leaf);
}

void OpRows::value_leaf(Leaf& leaf, std::string_view type, std::uint32_t value, std::uint32_t ranks, std::uint32_t shape) {
  const JsonTree& tree = *tree_;
  leaf.kind = LeafKind::kValue;
  const std::uint32_t content = type == field::kTypeProcessGroup ? ranks : value;
  std::string content_text(kNone);
  if (content != 0) {
    content_text = python_text(content);
    extra_.value = model_.texts.intern(content_text);
    has_extra_ = true;
  }
  const auto named = [&](std::string_view dtype, std::string_view shape_text) {
    leaf.dtype = model_.dtypes.intern(dtype);
    set_shape(leaf, shape_text);
  };
  const auto absent_as_null = [&] {
    for (NumberKind& kind : leaf.kinds) {
      kind = kind == NumberKind::kAbsent ? NumberKind::kNull : kind;
    }
  };
  const auto as_text = [&](std::string_view text) {
    leaf.kinds.fill(NumberKind::kText);
    leaf.payload.fill(model_.texts.intern(text));
  };
  if (type == field::kTypeSize) {
    named(type, content_text);
    absent_as_null();
  } else if (type == field::kTypeSlice) {
    std::string dimensions("(");  // numpy's shape of the value
    if (content != 0 && tree[content].kind == JsonKind::kList) {
      dimensions += std::to_string(tree[content].count);
      dimensions += ',';
    }
    dimensions += ')';
    named(type, dimensions);
    absent_as_null();
  } else if (type == field::kTypeEllipsis) {
    named(type, kNoShape);
    all_four(leaf, value);
  } else if (is_rank_argument(suffix_)) {
    named(type, kNoShape);
    as_text(content_text);
  } else if (type == field::kTypeProcessGroup) {
    leaf.kind = LeafKind::kProcessGroup;
    named(type, kNoShape);
    as_text(content_text);
  } else if (type == field::kTypeTensor && value == 0) {
    // A tensor of which nothing but its being there was recorded.
    leaf.kind = LeafKind::kTensor;
    leaf.dtype = model_.dtypes.intern(kNotAvailable);
    set_shape(leaf, shape == 0 ? kNone : python_text(shape));
    absent_as_null();
  } else {
    named(python_type(tree, value), kNoShape);
    all_four(leaf, value);
  }
}

// A null under a key that has a word here is not finite; a number keeps its value.
void OpRows::special(Leaf& leaf, std::uint32_t words) {
  for (std::size_t statistic = 0; statistic < kStatistics; ++statistic) {
    const std::uint32_t word = tree_->child(words, kStatisticKeys[statistic]);
    const NumberKind kind = leaf.kinds[statistic];
    if (word == 0 || (kind != NumberKind::kNull && kind != NumberKind::kAbsent)) {
      continue;
    }
    const std::string_view text = tree_->text_of(word);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double value = std::numeric_limits<double>::quiet_NaN();
    if (text == field::kPosInf) {
      value = kInfinity;
    } else if (text == field::kNegInf) {
      value = -kInfinity;
    } else if (text != field::kNan) {
      continue;
    }
    leaf.kinds[statistic] = NumberKind::kReal;
    leaf.payload[statistic] = std::bit_cast<std::uint64_t>(value);
  }
}

void OpRows::counts(std::uint32_t node) {
  const auto number = [&](std::string_view key) -> std::int64_t {
    const std::uint32_t child = tree_->child(node, key);
    if (child == 0 || (*tree_)[child].kind != JsonKind::kNumber) {
      return 0;
    }
    const ParsedNumber parsed = parse_number(tree_->text_of(child));
    return parsed.kind == NumberKind::kInteger ? static_cast<std::int64_t>(parsed.payload) : 0;
  };
  extra_.counts = static_cast<std::uint32_t>(model_.counts.size());
  has_extra_ = true;
  model_.counts.push_back(
      {number(field::kCountNan), number(field::kCountPosInf), number(field::kCountNegInf), number(field::kCountZero)});
}

}  // namespace msprobe::read

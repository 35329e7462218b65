// SPDX-License-Identifier: Apache-2.0
// Adapts dumps in columns to the divergence.
#include "compare/divergence_input.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>

namespace msprobe::compare::divergence {
namespace {

// "torch.float32" and "Float32" (of other frameworks) are the same.
DType dtype_of(std::string_view name) {
  std::string plain(name.substr(name.rfind('.') + 1));
  std::ranges::transform(plain, plain.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (unsigned i = 0; i < static_cast<unsigned>(DType::kUnknown); ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string_view known = dtype_name(dtype);
    if (known.substr(known.rfind('.') + 1) == plain) {
      return dtype;
    }
  }
  return DType::kUnknown;
}

Section section_of(read::Section section) {
  switch (section) {
    case read::Section::kInput:
      return Section::kInput;
    case read::Section::kParameters:
      return Section::kParameter;
    default:
      return Section::kOutput;
  }
}

// ".input.0.mask" -> "0.mask"
std::string_view path_of(std::string_view suffix) {
  const std::size_t dot = suffix.find('.', 1);
  return dot == std::string_view::npos ? std::string_view() : suffix.substr(dot + 1);
}

void add_number(Leaf& leaf, std::size_t statistic, const read::Number& number) {
  switch (number.kind) {
    case read::NumberKind::kInteger:
      leaf.numbers[statistic] = static_cast<double>(number.integer);
      break;
    case read::NumberKind::kUnsigned:
      leaf.numbers[statistic] = static_cast<double>(number.natural);
      break;
    case read::NumberKind::kReal:
      leaf.numbers[statistic] = number.real;
      break;
    case read::NumberKind::kFalse:
    case read::NumberKind::kTrue:
      leaf.numbers[statistic] = number.kind == read::NumberKind::kTrue ? 1 : 0;
      break;
    default:
      return;
  }
  leaf.known |= static_cast<std::uint8_t>(1U << statistic);
}

std::vector<Call> calls_of(const read::DumpModel& model) {
  std::vector<Call> calls;
  calls.reserve(model.ops.size());
  for (const read::Op& op : model.ops) {
    calls.push_back({model.text(op.name), op.order_first, op.order_last});
  }
  return calls;
}

// Tensors of matched calls that no pair has.
void add_one_sided(const read::DumpModel& target, const read::DumpModel& golden, std::span<const LeafPair> pairs,
                   const std::vector<DType>& target_dtypes, const std::vector<DType>& golden_dtypes, Input& input) {
  std::vector<bool> paired_target(target.leaves.size(), false);
  std::vector<bool> paired_golden(golden.leaves.size(), false);
  for (const LeafPair& pair : pairs) {
    paired_target[pair.target] = true;
    paired_golden[pair.golden] = true;
  }
  for (std::uint32_t call = 0; call < target.ops.size(); ++call) {
    if (input.golden_of[call] == kUnmatched) {
      continue;
    }
    const auto add = [&](const read::DumpModel& model, const read::Op& op, const std::vector<bool>& paired,
                         const std::vector<DType>& dtypes, Side side) {
      for (std::uint32_t i = 0; i < op.leaf_count; ++i) {
        const read::Leaf& leaf = model.leaves[op.first_leaf + i];
        if (paired[op.first_leaf + i] || leaf.kind != read::LeafKind::kTensor) {
          continue;
        }
        Place place = measure_one_sided(side, view_leaf(model, leaf, dtypes[leaf.dtype]));
        place.call = call;
        (side == Side::kTarget ? place.leaf : place.golden_leaf) = i;
        input.places.push_back(place);
      }
    };
    add(target, target.ops[call], paired_target, target_dtypes, Side::kTarget);
    add(golden, golden.ops[input.golden_of[call]], paired_golden, golden_dtypes, Side::kGolden);
  }
}

}  // namespace

std::vector<DType> dtypes_of(const read::DumpModel& model) {
  std::vector<DType> dtypes;
  dtypes.reserve(model.dtypes.size());
  for (std::uint32_t id = 0; id < model.dtypes.size(); ++id) {
    dtypes.push_back(dtype_of(model.dtypes[id]));
  }
  return dtypes;
}

Leaf view_leaf(const read::DumpModel& model, const read::Leaf& leaf, DType dtype) {
  Leaf seen;
  seen.section = section_of(leaf.section);
  seen.path = path_of(model.suffixes[leaf.suffix]);
  if (leaf.kind != read::LeafKind::kTensor) {
    return seen;
  }
  seen.dtype = dtype;
  seen.shape = model.shapes[leaf.shape];
  for (std::size_t statistic = 0; statistic < read::kStatistics; ++statistic) {
    add_number(seen, statistic, model.number(leaf, statistic));
  }
  return seen;
}

Leaf view_leaf(const read::DumpModel& model, const read::Leaf& leaf) {
  return view_leaf(model, leaf, dtype_of(model.dtypes[leaf.dtype]));
}

Input make_input(const read::DumpModel& target, const read::DumpModel& golden, std::span<const LeafPair> pairs, int threads) {
  Input input;
  input.target = calls_of(target);
  input.golden = calls_of(golden);
  input.golden_of.assign(target.ops.size(), kUnmatched);
  for (const LeafPair& pair : pairs) {
    std::uint32_t& partner = input.golden_of[target.leaves[pair.target].op];
    if (partner == kUnmatched) {
      partner = golden.leaves[pair.golden].op;
    }
  }
  const std::vector<DType> target_dtypes = dtypes_of(target);
  const std::vector<DType> golden_dtypes = dtypes_of(golden);
  input.places.resize(pairs.size());
  const auto measure_some = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const read::Leaf& t = target.leaves[pairs[i].target];
      const read::Leaf& g = golden.leaves[pairs[i].golden];
      Place place;
      if (t.kind == read::LeafKind::kTensor && g.kind == read::LeafKind::kTensor) {
        place = measure(view_leaf(target, t, target_dtypes[t.dtype]), view_leaf(golden, g, golden_dtypes[g.dtype]));
      } else {
        place.section = section_of(t.section);
      }
      place.call = t.op;
      place.leaf = pairs[i].target - target.ops[t.op].first_leaf;
      // Under a map of rows a leaf's partner may be of another call than the call's.
      place.golden_leaf = g.op == input.golden_of[t.op] ? pairs[i].golden - golden.ops[g.op].first_leaf : kNoLeaf;
      place.relative_l2 = pairs[i].relative_l2;
      input.places[i] = place;
    }
  };
  {
    std::vector<std::jthread> workers;
    const auto shares = static_cast<std::size_t>(std::max(1, threads));
    const std::size_t share = (pairs.size() + shares - 1) / shares;
    for (std::size_t begin = share; begin < pairs.size(); begin += share) {
      workers.emplace_back(measure_some, begin, std::min(pairs.size(), begin + share));
    }
    measure_some(0, std::min(pairs.size(), share));
  }
  add_one_sided(target, golden, pairs, target_dtypes, golden_dtypes, input);
  input.leaves = [&target, &golden](Side side, std::uint32_t call) {
    const read::DumpModel& model = side == Side::kTarget ? target : golden;
    std::vector<Leaf> leaves;
    for (const read::Leaf& leaf : model.leaves_of(model.ops[call])) {
      leaves.push_back(view_leaf(model, leaf));
    }
    return leaves;
  };
  return input;
}

}  // namespace msprobe::compare::divergence

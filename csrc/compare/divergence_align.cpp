// SPDX-License-Identifier: Apache-2.0
// Longest common subsequences of operator names, and the numbers of the pairs that come of them.
#include "compare/divergence_align.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

namespace msprobe::compare::divergence {
namespace {

// Edits up to which a longest common subsequence is looked for; the search needs memory for about half their square.
constexpr std::int64_t kMostEdits = 2000;
constexpr std::int32_t kOff = -(1 << 30);  // a diagonal that is not reached

using Names = std::vector<std::string_view>;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986. For each number of edits d, `reach[k + d]` is how far the
// target's list can be followed on diagonal k = i - j. Returns false above kMostEdits.
bool shortest_edits(const Names& target, const Names& golden, Pairs& pairs) {
  const auto n = static_cast<std::int64_t>(target.size());
  const auto m = static_cast<std::int64_t>(golden.size());
  std::vector<std::vector<std::int32_t>> trace;
  const std::int64_t most = std::min(n + m, kMostEdits);
  for (std::int64_t d = 0; d <= most; ++d) {
    std::vector<std::int32_t> reach(static_cast<std::size_t>(2 * d + 1), kOff);
    for (std::int64_t k = -d; k <= d; k += 2) {
      const auto before = [&](std::int64_t diagonal) -> std::int64_t {
        const std::int64_t at = diagonal + d - 1;
        return at >= 0 && at <= 2 * (d - 1) ? trace.back()[static_cast<std::size_t>(at)] : kOff;
      };
      std::int64_t i = d == 0 ? 0 : std::max(before(k + 1), before(k - 1) + 1);
      const bool on_lists = i >= 0 && i >= k && i <= n && i - k <= m;
      while (on_lists && i < n && i - k < m && target[static_cast<std::size_t>(i)] == golden[static_cast<std::size_t>(i - k)]) {
        ++i;
      }
      reach[static_cast<std::size_t>(k + d)] = on_lists ? static_cast<std::int32_t>(i) : kOff;
    }
    trace.push_back(std::move(reach));
    const std::int64_t end = n - m + d;
    if (end >= 0 && end <= 2 * d && trace.back()[static_cast<std::size_t>(end)] == n) {
      break;
    }
    if (d == most) {
      return false;
    }
  }
  std::int64_t i = n;
  std::int64_t k = n - m;
  for (auto d = static_cast<std::int64_t>(trace.size()) - 1; d >= 0; --d) {
    std::int64_t from = 0;
    std::int64_t next_k = k;
    if (d > 0) {
      const auto before = [&](std::int64_t diagonal) -> std::int64_t {
        const std::int64_t at = diagonal + d - 1;
        return at >= 0 && at <= 2 * (d - 1) ? trace[static_cast<std::size_t>(d - 1)][static_cast<std::size_t>(at)] : kOff;
      };
      const bool down = before(k + 1) >= before(k - 1) + 1;
      from = down ? before(k + 1) : before(k - 1) + 1;
      next_k = down ? k + 1 : k - 1;
    }
    for (; i > from; --i) {
      pairs.emplace_back(static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(i - 1 - k));
    }
    i = next_k == k - 1 ? from - 1 : from;
    k = next_k;
  }
  std::ranges::reverse(pairs);
  return true;
}

// The n-th of a name with the n-th of that name.
Pairs by_number(const Names& target, const Names& golden) {
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> of_golden;
  for (std::uint32_t j = 0; j < golden.size(); ++j) {
    of_golden[golden[j]].push_back(j);
  }
  std::unordered_map<std::string_view, std::size_t> used;
  Pairs pairs;
  for (std::uint32_t i = 0; i < target.size(); ++i) {
    const auto found = of_golden.find(target[i]);
    const std::size_t number = used[target[i]]++;
    if (found != of_golden.end() && number < found->second.size()) {
      pairs.emplace_back(i, found->second[number]);
    }
  }
  return pairs;
}

std::vector<std::uint32_t> left_over(std::size_t size, std::vector<std::uint32_t> used) {
  std::ranges::sort(used);
  std::vector<std::uint32_t> left;
  auto next = used.begin();
  for (std::uint32_t i = 0; i < size; ++i) {
    if (next != used.end() && *next == i) {
      ++next;
    } else {
      left.push_back(i);
    }
  }
  return left;
}

}  // namespace

Alignment align(const Names& target, const Names& golden) {
  Alignment alignment;
  if (!shortest_edits(target, golden, alignment.pairs)) {
    alignment.pairs = by_number(target, golden);
  }
  std::vector<std::uint32_t> of_target;
  std::vector<std::uint32_t> of_golden;
  for (const auto& [i, j] : alignment.pairs) {
    of_target.push_back(i);
    of_golden.push_back(j);
  }
  alignment.only_target = left_over(target.size(), std::move(of_target));
  alignment.only_golden = left_over(golden.size(), std::move(of_golden));
  return alignment;
}

Pairs sure_pairs(const Input& input, const CallList& target, const CallList& golden) {
  Pairs pairs;
  if (target.names == golden.names) {
    for (std::uint32_t i = 0; i < target.names.size(); ++i) {
      pairs.emplace_back(i, i);
    }
    return pairs;
  }
  const auto with_shapes = [&](const CallList& list) {
    std::vector<std::string> texts;
    texts.reserve(list.calls.size());
    for (std::size_t i = 0; i < list.calls.size(); ++i) {
      std::string text(list.names[i]);
      for (const Leaf& leaf : input.leaves(list.side, list.calls[i])) {
        text += ' ';
        text += leaf.shape;
      }
      texts.push_back(std::move(text));
    }
    return texts;
  };
  const std::vector<std::string> target_texts = with_shapes(target);
  const std::vector<std::string> golden_texts = with_shapes(golden);
  const Alignment alignment = align({target_texts.begin(), target_texts.end()}, {golden_texts.begin(), golden_texts.end()});
  const Pairs& all = alignment.pairs;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const auto [i, j] = all[at];
    const bool joins_before = at == 0 ? i == 0 && j == 0 : all[at - 1].first + 1 == i && all[at - 1].second + 1 == j;
    const bool joins_after = at + 1 == all.size() ? i + 1 == target.calls.size() && j + 1 == golden.calls.size()
                                                  : all[at + 1].first == i + 1 && all[at + 1].second == j + 1;
    if (joins_before && joins_after) {
      pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

std::vector<Place> measure_calls(const Input& input, std::uint32_t target, std::uint32_t golden) {
  const std::vector<Leaf> of_target = input.leaves(Side::kTarget, target);
  const std::vector<Leaf> of_golden = input.leaves(Side::kGolden, golden);
  std::map<std::pair<Section, std::string_view>, std::uint32_t> by_path;
  for (std::uint32_t j = 0; j < of_golden.size(); ++j) {
    if (of_golden[j].known != 0 || !of_golden[j].shape.empty()) {
      by_path.emplace(std::pair(of_golden[j].section, of_golden[j].path), j);
    }
  }
  std::vector<Place> places;
  const auto add = [&](Place place, std::uint32_t leaf, std::uint32_t golden_leaf) {
    place.call = target;
    place.leaf = leaf;
    place.golden_leaf = golden_leaf;
    places.push_back(place);
  };
  for (std::uint32_t i = 0; i < of_target.size(); ++i) {
    const Leaf& leaf = of_target[i];
    if (leaf.known == 0 && leaf.shape.empty()) {
      continue;  // no tensor
    }
    const auto partner = by_path.find({leaf.section, leaf.path});
    if (partner == by_path.end()) {
      add(measure_one_sided(Side::kTarget, leaf), i, kNoLeaf);
    } else {
      add(measure(leaf, of_golden[partner->second]), i, partner->second);
      by_path.erase(partner);
    }
  }
  for (const auto& [path, j] : by_path) {
    add(measure_one_sided(Side::kGolden, of_golden[j]), kNoLeaf, j);
  }
  return places;
}

std::optional<Input> realigned(const Input& input) {
  if (!input.leaves) {
    return std::nullopt;
  }
  const auto computing = [](Side side, const std::vector<Call>& calls) {
    CallList list{side, {}, {}};
    const Tree tree = build_tree(calls);
    for (const Event& event : tree.events) {
      const CallName& name = tree.nodes[event.call].name;
      if (!event.output && !name.backward && !only_moves(name.qualified)) {
        list.calls.push_back(event.call);
        list.names.push_back(name.qualified);
      }
    }
    return list;
  };
  const CallList target = computing(Side::kTarget, input.target);
  const CallList golden = computing(Side::kGolden, input.golden);
  std::vector<std::uint32_t> partner(input.target.size(), kUnmatched);
  for (const auto& [i, j] : sure_pairs(input, target, golden)) {
    partner[target.calls[i]] = golden.calls[j];
  }
  bool same = true;
  for (const std::uint32_t call : target.calls) {
    same = same && partner[call] == input.golden_of[call];
  }
  if (same) {
    return std::nullopt;
  }
  Input result{input.target, input.golden, input.golden_of, {}, input.leaves};
  std::vector<bool> changed(input.target.size(), false);
  for (const std::uint32_t call : target.calls) {
    if (partner[call] != input.golden_of[call]) {
      changed[call] = true;
      result.golden_of[call] = partner[call];
      if (partner[call] != kUnmatched) {
        const std::vector<Place> places = measure_calls(input, call, partner[call]);
        result.places.insert(result.places.end(), places.begin(), places.end());
      }
    }
  }
  for (const Place& place : input.places) {
    if (!changed[place.call]) {
      result.places.push_back(place);
    }
  }
  return result;
}

}  // namespace msprobe::compare::divergence

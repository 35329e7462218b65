// SPDX-License-Identifier: Apache-2.0
// Exact and mapped matches through a table of golden's keys; fuzzy ones by two queues; then what is left over.
#include "compare/match.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/parallel.h"
#include "compare/fuzzy.h"
#include "compare/row_names.h"

namespace msprobe::compare {
namespace {

using read::DumpModel;
using read::Leaf;

constexpr std::size_t kRange = 1U << 14U;  // rows that a thread takes at a time
constexpr std::size_t kNamesInWarning = 5;

using AppendKey = std::function<void(std::string&, const Leaf&)>;

// All rows of golden by key. Rows of equal keys are found in the order of the file.
class KeyTable {
 public:
  KeyTable(const DumpModel& golden, AppendKey append, int threads) : golden_(golden), append_(std::move(append)) {
    const std::size_t count = golden.leaves.size();
    std::vector<std::uint64_t> hashes(count);
    parallel_ranges(count, kRange, threads, [&](std::size_t begin, std::size_t end) {
      std::string key;
      for (std::size_t leaf = begin; leaf < end; ++leaf) {
        key.clear();
        append_(key, golden_.leaves[leaf]);
        hashes[leaf] = std::hash<std::string_view>{}(key);
      }
    });
    mask_ = std::bit_ceil(count * 2 + 1) - 1;
    slots_.assign(mask_ + 1, {});
    struct Chain {
      std::uint32_t last = kNoLeaf;
      std::size_t length = 1;
    };
    std::unordered_map<std::uint32_t, Chain> chains;  // by their first
    for (std::size_t leaf = 0; leaf < count; ++leaf) {
      const auto number = static_cast<std::uint32_t>(leaf);
      std::size_t slot = hashes[leaf] & mask_;
      while (slots_[slot].leaf != kNoLeaf && hashes[slots_[slot].leaf] != hashes[leaf]) {
        slot = (slot + 1) & mask_;
      }
      if (slots_[slot].leaf == kNoLeaf) {
        slots_[slot] = {number, static_cast<std::uint32_t>(hashes[leaf] >> 32U)};
        continue;
      }
      next_.resize(count, kNoLeaf);
      Chain& chain = chains.try_emplace(slots_[slot].leaf, Chain{slots_[slot].leaf}).first->second;
      next_[chain.last] = number;
      chain.last = number;
      if (++chain.length > kMostPartners) {
        crowded_.emplace_back(number, slots_[slot].leaf);
      }
    }
  }

  // `other` is memory to use.
  void find(std::string_view key, std::string& other, std::vector<std::uint32_t>& found) const {
    found.clear();
    const std::uint64_t hash = std::hash<std::string_view>{}(key);
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t slot = hash & mask_; slots_[slot].leaf != kNoLeaf; slot = (slot + 1) & mask_) {
      if (slots_[slot].tag != tag) {
        continue;
      }
      for (std::uint32_t leaf = slots_[slot].leaf; leaf != kNoLeaf; leaf = next_.empty() ? kNoLeaf : next_[leaf]) {
        other.clear();
        append_(other, golden_.leaves[leaf]);
        if (other == key) {
          if (found.size() == kMostPartners) {
            return;
          }
          found.push_back(leaf);
        }
      }
    }
  }

  // Rows that find() leaves out, each with the first of its name.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, std::uint32_t>>& crowded() const { return crowded_; }

 private:
  struct Slot {
    std::uint32_t leaf = kNoLeaf;
    std::uint32_t tag = 0;
  };

  const DumpModel& golden_;
  AppendKey append_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> next_;  // row of the same hash; empty if no two have one
  std::vector<std::pair<std::uint32_t, std::uint32_t>> crowded_;
  std::size_t mask_ = 0;
};

bool types_match(const DumpModel& target, const Leaf& left, const DumpModel& golden, const Leaf& right) {
  return left.kind == read::LeafKind::kBroken || right.kind == read::LeafKind::kBroken ||
         dtype_relation(target.dtypes[left.dtype], golden.dtypes[right.dtype]) != DtypeRelation::kNothing;
}

class Matcher {
 public:
  Matcher(const DumpModel& target, const DumpModel& golden, const MatchOptions& options)
      : target_(target), golden_(golden), options_(options) {}

  Matching run() {
    if (options_.data_map != nullptr) {
      by_data_map();
    } else if (options_.fuzzy) {
      by_queues();
    } else {
      by_key();
    }
    add_golden_alone();
    return std::move(matching_);
  }

 private:
  // `partners` gives the golden rows of a target row.
  template <class Partners>
  void each_target(bool check_types, const Partners& partners) {
    const std::size_t count = target_.leaves.size();
    const std::size_t ranges = (count + kRange - 1) / kRange;
    std::vector<std::vector<RowPair>> parts(ranges);
    parallel_ranges(count, kRange, options_.threads, [&](std::size_t begin, std::size_t end) {
      std::vector<RowPair>& rows = parts[begin / kRange];
      rows.reserve(end - begin);
      std::vector<std::uint32_t> found;
      std::string key;
      std::string other;
      for (std::size_t leaf = begin; leaf < end; ++leaf) {
        key.clear();
        const MatchState state = partners(target_.leaves[leaf], key, other, found);
        add(rows, static_cast<std::uint32_t>(leaf), found, state, check_types);
      }
    });
    matching_.rows.reserve(count);
    for (std::vector<RowPair>& rows : parts) {
      matching_.rows.insert(matching_.rows.end(), rows.begin(), rows.end());
      rows = {};
    }
  }

  void add(std::vector<RowPair>& rows, std::uint32_t leaf, const std::vector<std::uint32_t>& found, MatchState state,
           bool check_types) const {
    if (found.empty()) {
      rows.push_back({leaf, kNoLeaf, MatchState::kNoName, true});
    }
    for (const std::uint32_t partner : found) {
      const bool match = !check_types || types_match(target_, target_.leaves[leaf], golden_, golden_.leaves[partner]);
      rows.push_back({leaf, partner, match ? state : MatchState::kOtherDtype, true});
    }
  }

  void by_key() {
    const RowKeys target_keys(target_, KeyKind::kOrdinal);
    const RowKeys golden_keys(golden_, KeyKind::kOrdinal);
    const read::YamlMap empty;
    const bool cells = options_.cell_mapping;
    const read::YamlMap& map = options_.cell_map != nullptr ? *options_.cell_map : empty;
    const KeyTable table(
        golden_,
        [&](std::string& key, const Leaf& leaf) {
          golden_keys.append(key, leaf);
          if (cells) {
            apply_cell_map(key, empty);
          }
        },
        options_.threads);
    each_target(true, [&](const Leaf& leaf, std::string& key, std::string& other, std::vector<std::uint32_t>& found) {
      target_keys.append(key, leaf);
      if (cells) {
        apply_cell_map(key, map);
      }
      table.find(key, other, found);
      return MatchState::kMatched;
    });
    crowded_ = table.crowded();
  }

  void by_data_map() {
    const RowKeys target_keys(target_, KeyKind::kOrdinal);
    const RowKeys golden_keys(golden_, KeyKind::kOrdinal);
    const KeyTable table(golden_, [&](std::string& key, const Leaf& leaf) { golden_keys.append(key, leaf); }, options_.threads);
    const KeyTable printed(
        golden_, [&](std::string& key, const Leaf& leaf) { golden_.append_row_name(key, leaf); }, options_.threads);
    std::unordered_map<std::string_view, std::string_view> names;
    for (const auto& [from, to] : *options_.data_map) {
      names.emplace(from, to);
    }
    each_target(false, [&](const Leaf& leaf, std::string& key, std::string& other, std::vector<std::uint32_t>& found) {
      target_.append_row_name(key, leaf);
      if (const auto mapped = names.find(key); mapped != names.end()) {
        printed.find(mapped->second, other, found);
        if (found.empty()) {
          table.find(mapped->second, other, found);  // backward calls may be named by their order, too
        }
        return MatchState::kMapped;
      }
      key.clear();
      target_keys.append(key, leaf);
      table.find(key, other, found);
      return MatchState::kMatched;
    });
    crowded_ = table.crowded();
    warn_of_unused(table, printed);
  }

  void warn_of_unused(const KeyTable& table, const KeyTable& printed) {
    std::unordered_set<std::string> target_names;
    for (const Leaf& leaf : target_.leaves) {
      std::string name;
      target_.append_row_name(name, leaf);
      target_names.insert(std::move(name));
    }
    std::vector<std::string> no_target;
    std::vector<std::string> no_golden;
    std::string other;
    std::vector<std::uint32_t> found;
    for (const auto& [from, to] : *options_.data_map) {
      if (!target_names.contains(from)) {
        no_target.push_back(from);
      }
      printed.find(to, other, found);
      if (found.empty()) {
        table.find(to, other, found);
      }
      if (found.empty()) {
        no_golden.push_back(to);
      }
    }
    warn(no_target, "no row of target has the name ");
    warn(no_golden, "no row of golden has the name ");
  }

  void warn(const std::vector<std::string>& names, std::string_view what) {
    if (names.empty()) {
      return;
    }
    std::string text = "data map: ";
    text += what;
    for (std::size_t i = 0; i < std::min(names.size(), kNamesInWarning); ++i) {
      text += (i == 0 ? "'" : ", '") + names[i] + "'";
    }
    if (names.size() > kNamesInWarning) {
      text += " and " + std::to_string(names.size() - kNamesInWarning) + " more";
    }
    matching_.warnings.push_back(text + "; names are those of rows, such as Functional.linear.0.forward.input.0");
  }

  void by_queues() {
    const std::vector<std::uint32_t> partners = fuzzy_partners(target_, golden_);
    const RowKeys target_names(target_, KeyKind::kPrinted);
    const RowKeys golden_names(golden_, KeyKind::kPrinted);
    each_target(true, [&](const Leaf& leaf, std::string& key, std::string& other, std::vector<std::uint32_t>& found) {
      found.clear();
      const std::uint32_t partner = partners[static_cast<std::size_t>(&leaf - target_.leaves.data())];
      if (partner == kNoLeaf) {
        return MatchState::kNoName;
      }
      found.push_back(partner);
      other.clear();
      target_names.append(key, leaf);
      golden_names.append(other, golden_.leaves[partner]);
      return key == other ? MatchState::kMatched : MatchState::kFuzzy;
    });
  }

  // Rows of golden that no row of target has, or that were refused for their type; by name, numbers in it by value, so that golden's
  // order plays no part.
  void add_golden_alone() {
    std::vector<std::uint32_t> refused_by(golden_.leaves.size(), kNoLeaf);
    std::vector<bool> used(golden_.leaves.size());
    for (const RowPair& row : matching_.rows) {
      if (is_matched(row)) {
        used[row.golden] = true;
      } else if (row.golden != kNoLeaf) {
        refused_by[row.golden] = row.target;
      }
    }
    std::vector<std::pair<std::string, std::uint32_t>> alone;
    for (std::size_t leaf = 0; leaf < used.size(); ++leaf) {
      if (!used[leaf]) {
        auto& [name, number] = alone.emplace_back();
        golden_.append_row_name(name, golden_.leaves[leaf]);
        number = static_cast<std::uint32_t>(leaf);
      }
    }
    std::stable_sort(alone.begin(), alone.end(), [](const auto& a, const auto& b) { return natural_less(a.first, b.first); });
    std::unordered_set<std::uint32_t> crowded;
    for (const auto& [leaf, first] : crowded_) {
      if (used[first] || refused_by[first] != kNoLeaf) {
        crowded.insert(leaf);
      }
    }
    for (const auto& [name, leaf] : alone) {
      const MatchState state = refused_by[leaf] != kNoLeaf ? MatchState::kOtherDtype
                               : crowded.contains(leaf)    ? MatchState::kCrowded
                                                           : MatchState::kNoName;
      matching_.rows.push_back({refused_by[leaf], leaf, state, false});
    }
    if (!crowded.empty()) {
      std::string first;
      golden_.append_row_name(first, golden_.leaves[*std::min_element(crowded.begin(), crowded.end())]);
      matching_.warnings.push_back(std::to_string(crowded.size()) + " rows of golden are left without a partner, since " +
                                   std::to_string(kMostPartners) + " before them have the same name, as '" + first +
                                   "': names come from data_name where there is one");
    }
  }

  static bool natural_less(std::string_view a, std::string_view b) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
      if (digit(a[i]) && digit(b[j])) {
        std::size_t i_end = i;
        std::size_t j_end = j;
        while (i_end < a.size() && digit(a[i_end])) {
          ++i_end;
        }
        while (j_end < b.size() && digit(b[j_end])) {
          ++j_end;
        }
        const std::string_view left = a.substr(std::min(a.find_first_not_of('0', i), i_end), std::string_view::npos);
        const std::string_view right = b.substr(std::min(b.find_first_not_of('0', j), j_end), std::string_view::npos);
        const std::size_t left_size = left.size() - (a.size() - i_end);
        const std::size_t right_size = right.size() - (b.size() - j_end);
        if (left_size != right_size) {
          return left_size < right_size;
        }
        if (const int order = left.substr(0, left_size).compare(right.substr(0, right_size)); order != 0) {
          return order < 0;
        }
        i = i_end;
        j = j_end;
      } else {
        if (a[i] != b[j]) {
          return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
        }
        ++i;
        ++j;
      }
    }
    return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
  }

  const DumpModel& target_;
  const DumpModel& golden_;
  const MatchOptions& options_;
  Matching matching_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> crowded_;  // rows of golden, each with the first of its name
};

}  // namespace

Matching match(const DumpModel& target, const DumpModel& golden, const MatchOptions& options) {
  return Matcher(target, golden, options).run();
}

}  // namespace msprobe::compare

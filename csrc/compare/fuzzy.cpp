// SPDX-License-Identifier: Apache-2.0
// Two greedy queues over both files in step, with an index by name in place of a search through the queues.
#include "compare/fuzzy.h"

#include <algorithm>
#include <string>

#include "compare/match.h"
#include "compare/row_names.h"

namespace msprobe::compare {
namespace {

// Rows of one side that are waiting for a partner: those behind the last match that were pushed so far.
class Queue {
 public:
  Queue(std::vector<std::uint32_t> names, std::size_t name_count)
      : names_(std::move(names)), next_(names_.size(), kNoLeaf), first_(name_count, kNoLeaf), last_(name_count, kNoLeaf) {}

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] std::uint32_t name(std::size_t row) const { return names_[row]; }

  void push(std::size_t row) {
    const auto number = static_cast<std::uint32_t>(row);
    const std::uint32_t name = names_[row];
    if (last_[name] != kNoLeaf && first_[name] != kNoLeaf) {
      next_[last_[name]] = number;
    } else {
      first_[name] = number;
    }
    last_[name] = number;
  }

  // The oldest waiting row of that name.
  std::uint32_t oldest(std::uint32_t name) {
    std::uint32_t row = first_[name];
    while (row != kNoLeaf && row < begin_) {
      row = next_[row];
    }
    first_[name] = row;
    return row;
  }

  void cut_behind(std::size_t row) { begin_ = row + 1; }

 private:
  std::vector<std::uint32_t> names_;
  std::vector<std::uint32_t> next_;   // of the same name
  std::vector<std::uint32_t> first_;  // by name
  std::vector<std::uint32_t> last_;
  std::size_t begin_ = 0;
};

std::vector<std::uint32_t> names_of(const read::DumpModel& model, read::TextPool& pool) {
  const RowKeys keys(model, KeyKind::kNoNumber);
  std::vector<std::uint32_t> names;
  names.reserve(model.leaves.size());
  std::string key;
  for (const read::Leaf& leaf : model.leaves) {
    key.clear();
    keys.append(key, leaf);
    names.push_back(pool.intern(key));
  }
  return names;
}

}  // namespace

std::vector<std::uint32_t> fuzzy_partners(const read::DumpModel& target, const read::DumpModel& golden) {
  read::TextPool pool;
  std::vector<std::uint32_t> target_names = names_of(target, pool);
  std::vector<std::uint32_t> golden_names = names_of(golden, pool);
  Queue targets(std::move(target_names), pool.size());
  Queue goldens(std::move(golden_names), pool.size());
  std::vector<std::uint32_t> partners(targets.size(), kNoLeaf);
  const auto found = [&](std::uint32_t left, std::uint32_t right) {
    partners[left] = right;
    targets.cut_behind(left);
    goldens.cut_behind(right);
  };
  for (std::size_t row = 0; row < std::max(targets.size(), goldens.size()); ++row) {
    if (row < targets.size()) {
      targets.push(row);
    }
    if (row < goldens.size()) {
      goldens.push(row);
    }
    if (row < targets.size()) {
      if (const std::uint32_t partner = goldens.oldest(targets.name(row)); partner != kNoLeaf) {
        found(static_cast<std::uint32_t>(row), partner);
        continue;
      }
    }
    if (row < goldens.size()) {
      if (const std::uint32_t partner = targets.oldest(goldens.name(row)); partner != kNoLeaf) {
        found(partner, static_cast<std::uint32_t>(row));
      }
    }
  }
  return partners;
}

}  // namespace msprobe::compare

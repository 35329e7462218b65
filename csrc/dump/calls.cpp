// SPDX-License-Identifier: Apache-2.0
// Finds the call of each tensor.
#include "dump/calls.h"

namespace msprobe::dump {

std::size_t Calls::add(const log::Record& record, const log::Tag& tag) {
  const auto [known, is_new] = known_.try_emplace({record.call, record.replay}, calls_.size());
  std::vector<std::size_t>& open = open_[tag.name_id];
  const auto can_take = [&](std::size_t number) { return !calls_[number].places.contains(tag.place); };
  if (is_new && !tag.opens_call && !open.empty() && can_take(open.back())) {
    known->second = open.back();
  } else if (is_new || !can_take(known->second)) {
    known->second = calls_.size();
    calls_.push_back({tag.name_id, counts_[tag.name_id]++, {}});
    open.push_back(known->second);
  }
  const std::size_t number = known->second;
  calls_[number].places.insert(tag.place);
  if (tag.closes_call) {
    std::erase(open, number);
  }
  return number;
}

}  // namespace msprobe::dump

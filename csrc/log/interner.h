// SPDX-License-Identifier: Apache-2.0
// Keeps one copy of each value and numbers them, so that a record holds four bytes instead of a shape or a text.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace msprobe::log {

// Thread-safe; references stay valid for the interner's life. Compare must be transparent where Lookup is not Value.
template <class Value, class Compare = std::less<>>
class Interner {
 public:
  template <class Lookup>
  std::uint32_t intern(const Lookup& lookup) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = ids_.find(lookup); found != ids_.end()) {
        return found->second;
      }
    }
    const std::unique_lock lock(mutex_);
    const auto [place, is_new] =
        ids_.try_emplace(Value(lookup.begin(), lookup.end()), static_cast<std::uint32_t>(values_.size()));
    if (is_new) {
      values_.push_back(&place->first);
    }
    return place->second;
  }

  const Value& operator[](std::uint32_t id) const {
    const std::shared_lock lock(mutex_);
    return *values_[id];
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<Value, std::uint32_t, Compare> ids_;
  std::deque<const Value*> values_;  // map nodes do not move
};

}  // namespace msprobe::log

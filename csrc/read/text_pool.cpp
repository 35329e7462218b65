// SPDX-License-Identifier: Apache-2.0
// Texts by number: one block of bytes, a table of starts, and a hash table for what is kept once.
#include "read/text_pool.h"

#include <functional>
#include <utility>

namespace msprobe::read {
namespace {

constexpr std::size_t kFirstSlots = 64;

std::size_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

}  // namespace

TextPool::TextPool() : starts_{0, 0} {}

std::uint32_t TextPool::add(std::string_view text) {
  bytes_.insert(bytes_.end(), text.begin(), text.end());
  starts_.push_back(bytes_.size());
  return static_cast<std::uint32_t>(starts_.size() - 2);
}

std::uint32_t TextPool::intern(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  if ((interned_ + 1) * 2 > slots_.size()) {
    grow();
  }
  const std::size_t slot = slot_of(text);
  if (slots_[slot] == 0) {
    ++interned_;
    slots_[slot] = add(text);
  }
  return slots_[slot];
}

std::uint32_t TextPool::find(std::string_view text) const { return slots_.empty() ? 0 : slots_[slot_of(text)]; }

std::size_t TextPool::slot_of(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(text) & mask;
  while (slots_[slot] != 0 && (*this)[slots_[slot]] != text) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void TextPool::grow() {
  const std::vector<std::uint32_t> old =
      std::exchange(slots_, std::vector<std::uint32_t>(slots_.empty() ? kFirstSlots : slots_.size() * 2));
  for (const std::uint32_t id : old) {
    if (id != 0) {
      slots_[slot_of((*this)[id])] = id;
    }
  }
}

std::size_t TextPool::memory() const noexcept {
  return bytes_.capacity() + starts_.capacity() * sizeof(starts_[0]) + slots_.capacity() * sizeof(slots_[0]);
}

void TextPool::finish() {
  slots_ = {};
  interned_ = 0;
}

}  // namespace msprobe::read

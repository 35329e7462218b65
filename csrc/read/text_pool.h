// SPDX-License-Identifier: Apache-2.0
// Texts by number, one after the other in one block of memory; what repeats can be kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace msprobe::read {

// One writer; any number of readers once it is filled. Text 0 is the empty one.
class TextPool {
 public:
  TextPool();

  std::uint32_t add(std::string_view text);     // always a text of its own
  std::uint32_t intern(std::string_view text);  // the same number for the same text, among what was interned

  // The number of an interned text; 0 if it is not there, or if finish() was called.
  [[nodiscard]] std::uint32_t find(std::string_view text) const;

  [[nodiscard]] std::string_view operator[](std::uint32_t id) const {
    return {bytes_.data() + starts_[id], starts_[id + 1] - starts_[id]};
  }
  [[nodiscard]] std::size_t size() const noexcept { return starts_.size() - 1; }
  [[nodiscard]] std::size_t memory() const noexcept;  // bytes
  void finish();                                      // frees what only intern() needs; nothing may be interned afterwards

 private:
  void grow();
  [[nodiscard]] std::size_t slot_of(std::string_view text) const;  // where it is, or would be

  std::vector<char> bytes_;
  std::vector<std::uint64_t> starts_;  // of each text, and the end of the last
  std::vector<std::uint32_t> slots_;   // open addressing; 0: free
  std::size_t interned_ = 0;
};

}  // namespace msprobe::read

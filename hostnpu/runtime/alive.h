// SPDX-License-Identifier: Apache-2.0
// Counts the living objects of a class, so that tests see whether what was destroyed is gone, wherever it is held.
#pragma once

#include <atomic>
#include <cstdint>

namespace hostnpu {

// class Graph : private Alive<Graph> { ... }
template <class Object>
class Alive {
 public:
  static std::int64_t count() { return count_.load(std::memory_order_relaxed); }

 protected:
  Alive() { count_.fetch_add(1, std::memory_order_relaxed); }
  Alive(const Alive&) : Alive() {}
  Alive& operator=(const Alive&) = default;
  ~Alive() { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  static inline std::atomic<std::int64_t> count_ = 0;
};

}  // namespace hostnpu

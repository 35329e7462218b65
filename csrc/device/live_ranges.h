// SPDX-License-Identifier: Apache-2.0
// Finds tensors of one capture that share bytes while both are alive, though neither is a view of the other: memory that was freed and
// is used all the same. In a graph that fault repeats at every replay, and nothing tells of it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <map>
#include <vector>

#include "log/tag.h"

namespace msprobe::device {

// One thread at a time.
class LiveRanges {
 public:
  // Adds a tensor with memory, and returns the tags of those that are alive in other storages and share bytes with it.
  std::vector<log::TagId> add(const at::Tensor& x, log::TagId tag);

  void clear() { ranges_.clear(); }

 private:
  struct Range {
    std::uintptr_t begin;
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    log::TagId tag;
  };
  std::multimap<std::uintptr_t, Range> ranges_;  // by the address behind the last byte
  std::uintptr_t longest_ = 0;
};

}  // namespace msprobe::device

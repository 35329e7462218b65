// SPDX-License-Identifier: Apache-2.0
// Ranges by address.
#include "device/live_ranges.h"

#include <algorithm>

namespace msprobe::device {

std::vector<log::TagId> LiveRanges::add(const at::Tensor& x, log::TagId tag) {
  std::vector<log::TagId> shared;
  if (x.numel() == 0 || !x.has_storage()) {
    return shared;
  }
  std::int64_t elements = 1;  // that the tensor spans: torch's strides are not negative
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    elements += (x.size(i) - 1) * x.stride(i);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(x.const_data_ptr());
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(elements) * x.element_size();
  c10::StorageImpl* storage = x.storage().unsafeGetStorageImpl();
  longest_ = std::max(longest_, end - begin);
  for (auto place = ranges_.upper_bound(begin); place != ranges_.end() && place->first < end + longest_;) {
    const Range& other = place->second;
    const auto alive = other.storage.lock();
    if (alive == nullptr) {
      place = ranges_.erase(place);
      continue;
    }
    if (other.begin < end && alive.get() != storage) {
      shared.push_back(other.tag);
    }
    ++place;
  }
  ranges_.emplace(end, Range{begin, c10::weak_intrusive_ptr<c10::StorageImpl>(x.storage().getWeakStorageImpl()), tag});
  return shared;
}

}  // namespace msprobe::device

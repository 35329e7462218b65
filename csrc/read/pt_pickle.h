// SPDX-License-Identifier: Apache-2.0
// The pickle in a .pt file, read without running anything: it must describe one dense tensor, in the few words torch.save uses for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "format/dtype.h"

namespace msprobe::read {

// The tensor and the storage it is a view of, as the pickle has them; nothing is checked against the data yet.
struct PickledTensor {
  DType dtype = DType::kUnknown;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // as many as sizes
  std::int64_t offset = 0;            // of element 0, in elements
  bool requires_grad = false;
  bool conjugated = false;
  bool negated = false;
  std::string storage_key;  // decimal digits: the storage is the entry data/{key}
  std::int64_t storage_count = 0;
  std::int64_t storage_item_bytes = 1;  // the storage has storage_count of these
  std::string location;
};

// Where a pickle's bytes come from, for messages: `subject` names the file, `offset` is added to every position.
struct PickleSource {
  std::string subject;
  std::uint64_t offset = 0;
};

// Throws Error for any opcode or global outside the closed set, and for whatever is no tensor. Takes memory in proportion to the pickle,
// however deep it nests and however often it refers to the same thing.
PickledTensor read_pickled_tensor(std::span<const std::byte> pickle, const PickleSource& source);

}  // namespace msprobe::read

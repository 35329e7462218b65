// SPDX-License-Identifier: Apache-2.0
// What the attention operators share: how tensors lie, and which keys a query sees.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

namespace hostnpu {

// The view of a query, key, value or output as [batch, heads, sequence, head size], whatever order it lies in.
at::Tensor by_heads(const at::Tensor& tensor, const std::string& layout, int64_t heads);

enum class SparseMode : int64_t {
  kDefault = 0,          // the mask, within the band of preTokens and nextTokens; no mask: everything is seen
  kAllMask = 1,          // the mask alone
  kLeftUpCausal = 2,     // key j is seen by query i if j <= i
  kRightDownCausal = 3,  // the same, counted from the last query and the last key
  kBand = 4,             // preTokens and nextTokens, counted from the last query and the last key
  kPrefix = 5,           // the mask, which holds the prefixes already
  kCompressedPrefix = 6  // right-down causal, and the first prefix[batch] keys are always seen
};

struct Visibility {
  int64_t mode;
  int64_t before;  // preTokens
  int64_t after;   // nextTokens
};

// True where a query must not see a key, broadcastable to [batch, heads, queries, keys]; undefined: everything is seen. In modes 2
// to 4 and 6 the caller's mask is a fixed triangle that stands for the pattern, so it is not looked at.
at::Tensor hidden(const Visibility& visibility, const std::optional<at::Tensor>& mask, const std::vector<int64_t>& prefix,
                  int64_t queries, int64_t keys);

}  // namespace hostnpu

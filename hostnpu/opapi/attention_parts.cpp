// SPDX-License-Identifier: Apache-2.0
// Layouts and patterns of visibility of the attention operators.
#include "opapi/attention_parts.h"

namespace hostnpu {
namespace {

at::Tensor outside_band(const at::Tensor& distance, int64_t before, int64_t after) {
  return at::logical_or(at::gt(distance, after), at::lt(distance, -before));
}

}  // namespace

at::Tensor by_heads(const at::Tensor& tensor, const std::string& layout, int64_t heads) {
  if (layout == "BNSD") {
    return tensor;
  }
  if (layout == "BSND") {
    return tensor.transpose(1, 2);
  }
  const bool batch_first = layout == "BSH";
  TORCH_CHECK(batch_first || layout == "SBH", "inputLayout must be BSH, SBH, BSND or BNSD, got ", layout);
  TORCH_CHECK(heads > 0, "there must be heads, got ", heads);
  const at::Tensor split = tensor.unflatten(-1, {heads, tensor.size(-1) / heads});
  return batch_first ? split.transpose(1, 2) : split.permute({1, 2, 0, 3});
}

at::Tensor hidden(const Visibility& visibility, const std::optional<at::Tensor>& mask, const std::vector<int64_t>& prefix,
                  int64_t queries, int64_t keys) {
  const bool masked = mask.has_value() && mask->numel() > 0;
  // How far the key lies after the query, counted from the first of each; `shift` counts from the last of each.
  const at::Tensor distance = at::sub(at::arange(keys).unsqueeze(0), at::arange(queries).unsqueeze(1));
  const int64_t shift = keys - queries;
  switch (static_cast<SparseMode>(visibility.mode)) {
    case SparseMode::kDefault:
      return masked ? at::logical_or(mask->to(at::kBool), outside_band(distance, visibility.before, visibility.after))
                    : at::Tensor();
    case SparseMode::kAllMask:
    case SparseMode::kPrefix:
      return masked ? mask->to(at::kBool) : at::Tensor();
    case SparseMode::kLeftUpCausal:
      return at::gt(distance, 0);
    case SparseMode::kRightDownCausal:
      return at::gt(distance, shift);
    case SparseMode::kBand:
      return outside_band(at::sub(distance, shift), visibility.before, visibility.after);
    case SparseMode::kCompressedPrefix: {
      const at::Tensor first_hidden = at::tensor(at::IntArrayRef(prefix)).view({-1, 1, 1, 1});
      return at::logical_and(at::gt(distance, shift), at::ge(at::arange(keys), first_hidden));
    }
  }
  TORCH_CHECK(false, "hostnpu knows sparseMode 0 to 6, got ", visibility.mode);
}

}  // namespace hostnpu

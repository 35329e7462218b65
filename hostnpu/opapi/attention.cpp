// SPDX-License-Identifier: Apache-2.0
// Fused attention: dropout(softmax(mask(scale * (pse + Q K^T)))) V and its backward, in fp32.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

// The view of a query, key, value or output as [batch, heads, sequence, head size], whatever order it lies in.
at::Tensor by_heads(const at::Tensor& tensor, Text layout, int64_t heads) {
  if (layout == "BNSD") {
    return tensor;
  }
  if (layout == "BSND") {
    return tensor.transpose(1, 2);
  }
  const bool batch_first = layout == "BSH";
  TORCH_CHECK(batch_first || layout == "SBH", "inputLayout must be BSH, SBH, BSND or BNSD, got ", layout);
  const at::Tensor split = tensor.unflatten(-1, {heads, tensor.size(-1) / heads});
  return batch_first ? split.transpose(1, 2) : split.permute({1, 2, 0, 3});
}

// Grouped-query attention has fewer heads for key and value than for the query.
int64_t key_heads(const at::Tensor& query, const at::Tensor& key, Text layout, int64_t query_heads) {
  if (layout == "BNSD") {
    return key.size(1);
  }
  if (layout == "BSND") {
    return key.size(2);
  }
  return key.size(2) / (query.size(2) / query_heads);
}

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

at::Tensor outside_band(const at::Tensor& distance, int64_t before, int64_t after) {
  return at::logical_or(at::gt(distance, after), at::lt(distance, -before));
}

// True where a query must not see a key, broadcastable to [batch, heads, queries, keys]; undefined: everything is seen. In modes 2
// to 4 and 6 the caller's mask is a fixed triangle that stands for the pattern, so it is not looked at.
at::Tensor hidden(const Visibility& visibility, OptionalIn mask, Ints prefix, int64_t queries, int64_t keys) {
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

// scale * (pse + Q K^T), minus infinity where hidden.
at::Tensor scores(const at::Tensor& query, const at::Tensor& key, OptionalIn pse, double scale, const at::Tensor& hidden_keys) {
  at::Tensor result = at::matmul(query, key.transpose(-1, -2));
  if (pse.has_value() && pse->numel() > 0) {
    result = at::add(result, pse->to(at::kFloat));
  }
  result = at::mul(result, scale);
  if (hidden_keys.defined()) {
    result = result.masked_fill(hidden_keys, -std::numeric_limits<float>::infinity());
  }
  return result;
}

// Softmax from its saved pieces. A row that sees nothing has sum 0, and gives zeros.
at::Tensor probabilities(const at::Tensor& row_scores, const at::Tensor& row_max, const at::Tensor& row_sum) {
  return at::div(at::exp(at::sub(row_scores, row_max)), row_sum).masked_fill(at::eq(row_sum, 0), 0);
}

// What dropout multiplies the probabilities by; undefined: nothing is dropped.
at::Tensor dropout_factor(OptionalIn drop_mask, double keep_probability, const at::Tensor& like) {
  if (!drop_mask.has_value() || drop_mask->numel() == 0 || keep_probability >= 1) {
    return at::Tensor();
  }
  const at::Tensor kept = unpacked_bits(*drop_mask, like.numel()).view(like.sizes());
  return at::div(kept.to(at::kFloat), keep_probability);
}

// Sums the gradient of repeated heads back onto the heads there are.
at::Tensor grouped_sum(const at::Tensor& gradient, int64_t heads) {
  return gradient.unflatten(1, {heads, gradient.size(1) / heads}).sum(2);
}

}  // namespace

// softmaxMax and softmaxSum get the pieces of the softmax, eight times each (a block of the vector unit); softmaxOut is not used.
HOSTNPU_OPERATOR(FlashAttentionScore,
                 (In query, In key, In value, OptionalIn pse, OptionalIn drop_mask, OptionalIn /*padding_mask*/,
                  OptionalIn attention_mask, Ints prefix, double scale, double keep_probability, int64_t before, int64_t after,
                  int64_t heads, Text layout, int64_t /*inner_precise*/, int64_t sparse_mode, Out softmax_max, Out softmax_sum,
                  OptionalOut /*softmax_out*/, Out attention_out)) {
  const int64_t kv_heads = key_heads(query, key, layout, heads);
  const int64_t group = heads / kv_heads;
  const at::Tensor q = by_heads(query, layout, heads).to(at::kFloat);
  const at::Tensor k = by_heads(key, layout, kv_heads).to(at::kFloat).repeat_interleave(group, 1);
  const at::Tensor v = by_heads(value, layout, kv_heads).to(at::kFloat).repeat_interleave(group, 1);
  const at::Tensor hidden_keys = hidden({sparse_mode, before, after}, attention_mask, prefix, q.size(2), k.size(2));
  const at::Tensor all_scores = scores(q, k, pse, scale, hidden_keys);
  const at::Tensor row_max = at::clamp_min(at::amax(all_scores, -1, /*keepdim=*/true), std::numeric_limits<float>::lowest());
  const at::Tensor row_sum = at::sum(at::exp(at::sub(all_scores, row_max)), -1, /*keepdim=*/true);
  at::Tensor weights = probabilities(all_scores, row_max, row_sum);
  const at::Tensor dropout = dropout_factor(drop_mask, keep_probability, weights);
  if (dropout.defined()) {
    weights = at::mul(weights, dropout);
  }
  softmax_max.copy_(row_max.expand_as(softmax_max));
  softmax_sum.copy_(row_sum.expand_as(softmax_sum));
  store(by_heads(attention_out, layout, heads), at::matmul(weights, v));
}

HOSTNPU_OPERATOR(FlashAttentionScoreGrad,
                 (In query, In key, In value, In output_gradient, OptionalIn pse, OptionalIn drop_mask,
                  OptionalIn /*padding_mask*/, OptionalIn attention_mask, In softmax_max, In softmax_sum,
                  OptionalIn /*softmax_in*/, OptionalIn /*attention_in*/, Ints prefix, double scale, double keep_probability,
                  int64_t before, int64_t after, int64_t heads, Text layout, int64_t /*inner_precise*/, int64_t sparse_mode,
                  Out query_gradient, Out key_gradient, Out value_gradient, OptionalOut pse_gradient)) {
  const int64_t kv_heads = key_heads(query, key, layout, heads);
  const int64_t group = heads / kv_heads;
  const at::Tensor q = by_heads(query, layout, heads).to(at::kFloat);
  const at::Tensor k = by_heads(key, layout, kv_heads).to(at::kFloat).repeat_interleave(group, 1);
  const at::Tensor v = by_heads(value, layout, kv_heads).to(at::kFloat).repeat_interleave(group, 1);
  const at::Tensor upstream = by_heads(output_gradient, layout, heads).to(at::kFloat);
  const at::Tensor hidden_keys = hidden({sparse_mode, before, after}, attention_mask, prefix, q.size(2), k.size(2));
  const at::Tensor weights =
      probabilities(scores(q, k, pse, scale, hidden_keys), softmax_max.narrow(-1, 0, 1), softmax_sum.narrow(-1, 0, 1));
  const at::Tensor dropout = dropout_factor(drop_mask, keep_probability, weights);
  const at::Tensor used_weights = dropout.defined() ? at::mul(weights, dropout) : weights;
  at::Tensor weight_gradient = at::matmul(upstream, v.transpose(-1, -2));
  if (dropout.defined()) {
    weight_gradient = at::mul(weight_gradient, dropout);
  }
  // Through the softmax, then through the scale, which pse passes as well as Q K^T.
  const at::Tensor row_dot = at::sum(at::mul(weight_gradient, weights), -1, /*keepdim=*/true);
  const at::Tensor sum_gradient = at::mul(at::mul(weights, at::sub(weight_gradient, row_dot)), scale);
  store(by_heads(query_gradient, layout, heads), at::matmul(sum_gradient, k));
  store(by_heads(key_gradient, layout, kv_heads), grouped_sum(at::matmul(sum_gradient.transpose(-1, -2), q), kv_heads));
  store(by_heads(value_gradient, layout, kv_heads),
        grouped_sum(at::matmul(used_weights.transpose(-1, -2), upstream), kv_heads));
  if (pse_gradient.has_value() && pse_gradient->numel() > 0) {
    store(*pse_gradient, sum_gradient.sum_to_size(pse_gradient->sizes()));
  }
}

}  // namespace hostnpu

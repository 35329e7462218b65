// SPDX-License-Identifier: Apache-2.0
// Fused attention: dropout(softmax(mask(scale * (pse + Q K^T)))) V and its backward, in fp32.
#include "opapi/attention_parts.h"
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

// Grouped-query attention has fewer heads for key and value than for the query.
int64_t key_heads(const at::Tensor& query, const at::Tensor& key, Text layout, int64_t query_heads) {
  if (layout == "BNSD") {
    return key.size(1);
  }
  if (layout == "BSND") {
    return key.size(2);
  }
  TORCH_CHECK(query_heads > 0 && query.size(2) >= query_heads, "a query of ", query.sizes(), " cannot have ", query_heads,
              " heads");
  return key.size(2) / (query.size(2) / query_heads);
}

// How many heads of the query share one of key and value.
int64_t group_size(int64_t heads, int64_t kv_heads) {
  TORCH_CHECK(kv_heads > 0 && heads % kv_heads == 0, "the heads of the query must be a multiple of the key's, got ", heads,
              " and ", kv_heads);
  return heads / kv_heads;
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
  const int64_t group = group_size(heads, kv_heads);
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
  const int64_t group = group_size(heads, kv_heads);
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

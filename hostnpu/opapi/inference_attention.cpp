// SPDX-License-Identifier: Apache-2.0
// Fused attention of inference: softmax(mask(scale * Q K^T + pse)) V for sequences of unlike lengths, with paged keys, in fp32.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opapi/attention_parts.h"
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool given(OptionalIn tensor) { return tensor.has_value() && tensor->numel() > 0; }

void refuse(std::initializer_list<std::pair<std::string_view, OptionalIn>> arguments) {
  for (const auto& [name, tensor] : arguments) {
    TORCH_CHECK(!given(tensor), "hostnpu does not play fused inference attention with ", name);
  }
}

bool is_packed(std::string_view layout) { return layout == "TND" || layout == "NTD"; }

// Every sequence as a view [heads, length, head size]. `ends`: where each ends in a packed tensor; not looked at for others.
std::vector<at::Tensor> sequences(const at::Tensor& tensor, const std::string& layout, int64_t heads, Ints ends) {
  if (is_packed(layout)) {
    const at::Tensor by_head = layout == "TND" ? tensor.transpose(0, 1) : tensor;
    std::vector<at::Tensor> result;
    int64_t start = 0;
    for (const int64_t end : ends) {
      TORCH_CHECK(start <= end && end <= by_head.size(1), "the ends of ", by_head.size(1), " packed tokens must not fall, got ",
                  ends);
      result.push_back(by_head.narrow(1, start, end - start));
      start = end;
    }
    return result;
  }
  if (layout == "NSD") {
    return {tensor};
  }
  if (layout == "NBSD") {
    return tensor.transpose(0, 1).unbind(0);
  }
  return by_heads(tensor, layout, heads).unbind(0);
}

// The length of a sequence from a list that holds one for each, one for all, or nothing (then all of `most` counts).
int64_t length_of(Ints lengths, std::size_t position, int64_t most, const char* name) {
  if (lengths.empty()) {
    return most;
  }
  TORCH_CHECK(lengths.size() == 1 || position < lengths.size(), name, " must have one length or one for each sequence, got ",
              lengths.size());
  const int64_t length = lengths.size() == 1 ? lengths[0] : lengths[position];
  TORCH_CHECK(0 <= length && length <= most, name, " must be 0 to ", most, ", got ", length);
  return length;
}

// A cache as [blocks, tokens of a block, heads, head size].
at::Tensor by_block(const at::Tensor& cache, int64_t heads) {
  switch (cache.dim()) {
    case 3:
      return cache.unflatten(-1, {heads, cache.size(-1) / heads});
    case 4:
      return cache.transpose(1, 2);
    case 5:  // [blocks, heads, head size / 16, tokens, 16]
      return cache.permute({0, 3, 1, 2, 4}).flatten(3);
    default:
      TORCH_CHECK(false, "a paged key or value must have 3, 4 or 5 dimensions, got ", cache.dim());
  }
}

// The first `length` tokens that a row of the block table leads to, as [heads, length, head size].
at::Tensor from_blocks(const at::Tensor& cache, const at::Tensor& blocks, int64_t length, int64_t heads) {
  const at::Tensor pages = by_block(cache, heads);
  TORCH_CHECK(pages.size(1) > 0, "a block must hold tokens, got a cache of ", cache.sizes());
  const int64_t used = (length + pages.size(1) - 1) / pages.size(1);
  TORCH_CHECK(used <= blocks.size(0), "the block table holds ", blocks.size(0), " blocks for a sequence, ", length,
              " tokens need ", used);
  return pages.index_select(0, as_long(blocks.narrow(0, 0, used))).flatten(0, 1).narrow(0, 0, length).transpose(0, 1);
}

struct Keys {
  Tensors tensors;  // one for all sequences, or one for each (then of batch 1)
  OptionalIn blocks;
  Ints lengths;
  std::string layout;
  int64_t heads;

  at::Tensor of(std::size_t sequence) const {
    if (given(blocks)) {
      TORCH_CHECK(!lengths.empty(), "actualSeqLengthsKv must be given with a block table");
      const at::Tensor row = (*blocks)[static_cast<int64_t>(sequence)];
      const int64_t most = row.size(0) * by_block(tensors.at(0), heads).size(1);
      return from_blocks(tensors.at(0), row, length_of(lengths, sequence, most, "actualSeqLengthsKv"), heads);
    }
    const bool one_each = tensors.size() > 1;
    const at::Tensor& tensor = tensors.at(one_each ? sequence : 0);
    const at::Tensor whole = sequences(tensor, layout, heads, lengths).at(one_each ? 0 : sequence);
    return is_packed(layout) ? whole : whole.narrow(1, 0, length_of(lengths, sequence, whole.size(1), "actualSeqLengthsKv"));
  }
};

// The caller's mask for one sequence as [queries, keys]; it may be larger than needed.
std::optional<at::Tensor> mask_of(OptionalIn mask, std::size_t sequence, std::size_t count, int64_t queries, int64_t keys) {
  if (!given(mask)) {
    return std::nullopt;
  }
  at::Tensor all = *mask;
  if (all.dim() == 2) {
    const bool row_a_sequence = queries == 1 && all.size(0) == static_cast<int64_t>(count);
    all = all.unsqueeze(row_a_sequence ? 1 : 0);
  } else if (all.dim() == 4) {
    all = all.squeeze(1);
  }
  TORCH_CHECK(all.dim() == 3, "attenMask must have 2, 3 or 4 dimensions, got ", mask->sizes());
  return all[all.size(0) == 1 ? 0 : static_cast<int64_t>(sequence)].narrow(0, 0, queries).narrow(1, 0, keys);
}

struct Call {
  In query;
  Tensors key;
  Tensors value;
  OptionalIn pse;
  OptionalIn mask;
  Ints lengths;
  Ints key_lengths;
  OptionalIn blocks;
  OptionalIn query_rope;
  OptionalIn key_rope;
  int64_t heads;
  double scale;
  Visibility visibility;
  Text layout;
  int64_t key_heads;
  bool wants_lse;
  Out out;
  OptionalOut lse;
};

// One sequence: outputs [heads, queries, head size] and [heads, queries, 1].
void attend(const Call& call, std::size_t sequence, std::size_t count, const at::Tensor& query, const at::Tensor& key,
            const at::Tensor& value, const at::Tensor& out, const std::optional<at::Tensor>& lse) {
  const int64_t queries = query.size(1);
  const int64_t keys = key.size(1);
  if (queries == 0 || keys == 0) {
    return;
  }
  TORCH_CHECK(key.size(0) > 0 && query.size(0) % key.size(0) == 0,
              "the heads of the query must be a multiple of the key's, got ", query.size(0), " and ", key.size(0));
  const int64_t group = query.size(0) / key.size(0);
  at::Tensor scores =
      at::mul(at::matmul(query.to(at::kFloat), key.to(at::kFloat).repeat_interleave(group, 0).transpose(-1, -2)), call.scale);
  if (given(call.pse)) {
    const at::Tensor shift = (*call.pse)[call.pse->size(0) == 1 ? 0 : static_cast<int64_t>(sequence)];
    scores = at::add(scores, shift.narrow(1, 0, queries).narrow(2, 0, keys).to(at::kFloat));
  }
  Visibility visibility = call.visibility;
  const bool is_pattern = visibility.mode > static_cast<int64_t>(SparseMode::kAllMask);
  // The pattern and the bands say nothing of a lone query, whose mask is taken as it is.
  if (!is_packed(call.layout) && queries == 1) {
    visibility.mode = static_cast<int64_t>(SparseMode::kAllMask);
  }
  const auto mask = is_pattern ? std::nullopt : mask_of(call.mask, sequence, count, queries, keys);
  if (const at::Tensor unseen = hidden(visibility, mask, {}, queries, keys); unseen.defined()) {
    scores = scores.masked_fill(unseen, -kInfinity);
  }
  const at::Tensor row_max = at::clamp_min(at::amax(scores, -1, /*keepdim=*/true), std::numeric_limits<float>::lowest());
  const at::Tensor weights = at::exp(at::sub(scores, row_max));
  const at::Tensor row_sum = at::sum(weights, -1, /*keepdim=*/true);
  const at::Tensor sees_nothing = at::eq(row_sum, 0);
  const at::Tensor result =
      at::matmul(at::div(weights, row_sum).masked_fill(sees_nothing, 0), value.to(at::kFloat).repeat_interleave(group, 0));
  store(out, result);
  if (lse.has_value()) {
    store(*lse, at::add(row_max, at::log(row_sum)).masked_fill(sees_nothing, kInfinity));
  }
}

// Rows behind a sequence's length, and sequences without keys, get 0 and, as logarithm of their sum, infinity.
void attend_all(const Call& call) {
  const auto underscore = call.layout.find('_');
  const std::string layout = call.layout.substr(0, underscore);
  const std::string out_layout = underscore == std::string::npos ? layout : call.layout.substr(underscore + 1);
  const bool packed = is_packed(layout);
  const bool lse_wanted = call.wants_lse && call.lse.has_value();
  call.out.zero_();
  if (lse_wanted) {
    call.lse->fill_(kInfinity);
  }
  const auto is_empty = [](const at::Tensor& tensor) { return tensor.numel() == 0; };
  if (is_empty(call.query) || is_empty(call.out) || std::all_of(call.key.begin(), call.key.end(), is_empty)) {
    return;  // CANN looks at nothing more then
  }
  TORCH_CHECK(call.heads > 0, "numHeads must be greater than 0, got ", call.heads);
  TORCH_CHECK(!packed || !call.lengths.empty(), "actualSeqLengths must be given for packed sequences");
  TORCH_CHECK(call.visibility.mode <= static_cast<int64_t>(SparseMode::kBand), "sparseMode must be 0 to 4, got ",
              call.visibility.mode);
  TORCH_CHECK(call.visibility.mode == static_cast<int64_t>(SparseMode::kDefault) || given(call.mask), "sparseMode ",
              call.visibility.mode, " wants an attenMask");
  const int64_t key_heads = call.key_heads == 0 ? call.heads : call.key_heads;
  const bool paged = given(call.blocks);
  const auto queries = sequences(call.query, layout, call.heads, call.lengths);
  const auto outputs = sequences(call.out, out_layout, call.heads, call.lengths);
  TORCH_CHECK(paged || call.key.size() <= 1 || call.key.size() == queries.size(),
              "there must be one key for all sequences or one ", "for each of the ", queries.size(), ", got ", call.key.size());
  std::vector<at::Tensor> lse;
  if (lse_wanted) {
    lse = sequences(*call.lse, packed ? "TND" : "BNSD", call.heads, call.lengths);
  }
  const Keys keys{call.key, call.blocks, call.key_lengths, layout, key_heads};
  const Keys values{call.value, call.blocks, call.key_lengths, layout, key_heads};
  const bool rope = given(call.query_rope);
  TORCH_CHECK(rope == given(call.key_rope), "queryRope and keyRope must be given together");
  const std::vector<at::Tensor> key_rope_list = rope ? std::vector<at::Tensor>{*call.key_rope} : std::vector<at::Tensor>{};
  const Keys key_ropes{key_rope_list, call.blocks, call.key_lengths, layout, key_heads};
  const auto query_ropes = rope ? sequences(*call.query_rope, layout, call.heads, call.lengths) : std::vector<at::Tensor>{};
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const int64_t all = queries[i].size(1);
    // The kernel of one query a sequence does not look at the lengths of queries.
    const int64_t length = packed || all == 1 ? all : length_of(call.lengths, i, all, "actualSeqLengths");
    at::Tensor query = queries[i].narrow(1, 0, length);
    at::Tensor key = keys.of(i);
    if (rope) {
      query = at::cat({query, query_ropes.at(i).narrow(1, 0, length)}, -1);
      key = at::cat({key, key_ropes.of(i)}, -1);
    }
    attend(call, i, queries.size(), query, key, values.of(i), outputs.at(i).narrow(1, 0, length),
           lse.empty() ? std::nullopt : std::optional(lse.at(i).narrow(1, 0, length)));
  }
}

}  // namespace

HOSTNPU_OPERATOR(FusedInferAttentionScoreV3,
                 (In query, Tensors key, Tensors value, OptionalIn pse, OptionalIn mask, Ints lengths, Ints key_lengths,
                  OptionalIn deq_scale1, OptionalIn quant_scale1, OptionalIn deq_scale2, OptionalIn quant_scale2,
                  OptionalIn quant_offset2, OptionalIn antiquant_scale, OptionalIn antiquant_offset, OptionalIn blocks,
                  OptionalIn query_padding, OptionalIn key_padding, OptionalIn key_scale, OptionalIn key_offset,
                  OptionalIn value_scale, OptionalIn value_offset, OptionalIn key_prefix, OptionalIn value_prefix,
                  Ints /*prefix_length*/, OptionalIn query_rope, OptionalIn key_rope, OptionalIn rope_scale, int64_t heads,
                  double scale, int64_t before, int64_t after, Text layout, int64_t key_heads, int64_t sparse_mode,
                  int64_t /*inner_precise*/, int64_t /*block_size*/, int64_t /*antiquant_mode*/, bool wants_lse,
                  int64_t /*key_mode*/, int64_t /*value_mode*/, Out out, OptionalOut lse)) {
  refuse({{"deqScale1", deq_scale1},
          {"quantScale1", quant_scale1},
          {"deqScale2", deq_scale2},
          {"quantScale2", quant_scale2},
          {"quantOffset2", quant_offset2},
          {"antiquantScale", antiquant_scale},
          {"antiquantOffset", antiquant_offset},
          {"queryPaddingSize", query_padding},
          {"kvPaddingSize", key_padding},
          {"keyAntiquantScale", key_scale},
          {"keyAntiquantOffset", key_offset},
          {"valueAntiquantScale", value_scale},
          {"valueAntiquantOffset", value_offset},
          {"keySharedPrefix", key_prefix},
          {"valueSharedPrefix", value_prefix},
          {"keyRopeAntiquantScale", rope_scale}});
  attend_all({query,
              key,
              value,
              pse,
              mask,
              lengths,
              key_lengths,
              blocks,
              query_rope,
              key_rope,
              heads,
              scale,
              {sparse_mode, before, after},
              layout,
              key_heads,
              wants_lse,
              out,
              lse});
}
HOSTNPU_MAX_WORKSPACE(FusedInferAttentionScoreV3);

// The third version with two arguments more, which must not be given, and a mode that belongs to one of them.
HOSTNPU_OPERATOR(FusedInferAttentionScoreV4,
                 (In query, Tensors key, Tensors value, OptionalIn pse, OptionalIn mask, Ints lengths, Ints key_lengths,
                  OptionalIn deq_scale1, OptionalIn quant_scale1, OptionalIn deq_scale2, OptionalIn quant_scale2,
                  OptionalIn quant_offset2, OptionalIn antiquant_scale, OptionalIn antiquant_offset, OptionalIn blocks,
                  OptionalIn query_padding, OptionalIn key_padding, OptionalIn key_scale, OptionalIn key_offset,
                  OptionalIn value_scale, OptionalIn value_offset, OptionalIn key_prefix, OptionalIn value_prefix,
                  Ints prefix_length, OptionalIn query_rope, OptionalIn key_rope, OptionalIn rope_scale, OptionalIn query_scale,
                  OptionalIn sink, int64_t heads, double scale, int64_t before, int64_t after, Text layout, int64_t key_heads,
                  int64_t sparse_mode, int64_t inner_precise, int64_t block_size, int64_t antiquant_mode, bool wants_lse,
                  int64_t key_mode, int64_t value_mode, int64_t /*query_mode*/, Out out, OptionalOut lse)) {
  refuse({{"dequantScaleQuery", query_scale}, {"learnableSink", sink}});
  compute_FusedInferAttentionScoreV3(
      query, key, value, pse, mask, lengths, key_lengths, deq_scale1, quant_scale1, deq_scale2, quant_scale2, quant_offset2,
      antiquant_scale, antiquant_offset, blocks, query_padding, key_padding, key_scale, key_offset, value_scale, value_offset,
      key_prefix, value_prefix, prefix_length, query_rope, key_rope, rope_scale, heads, scale, before, after, layout, key_heads,
      sparse_mode, inner_precise, block_size, antiquant_mode, wants_lse, key_mode, value_mode, out, lse);
}
HOSTNPU_MAX_WORKSPACE(FusedInferAttentionScoreV4);

}  // namespace hostnpu

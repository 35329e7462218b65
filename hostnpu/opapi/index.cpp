// SPDX-License-Identifier: Apache-2.0
// Reading and writing at positions that a tensor tells.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

using IndexList = c10::List<std::optional<at::Tensor>>;

// torch_npu marks a dimension that is taken whole by an empty tensor or null.
IndexList index_list(Tensors indices) {
  IndexList list;
  for (const at::Tensor& index : indices) {
    list.push_back(index.defined() && index.numel() > 0 ? std::optional<at::Tensor>(index) : std::nullopt);
  }
  return list;
}

bool selects_nothing(Tensors indices) {
  return std::all_of(indices.begin(), indices.end(),
                     [](const at::Tensor& index) { return !index.defined() || index.numel() == 0; });
}

void store_with_own_shape(ShrinkingOut out, const at::Tensor& result) {
  TORCH_CHECK(result.numel() <= out.tensor.numel(), "the output has shape ", out.tensor.sizes(), ", too small for ",
              result.sizes());
  out.tensor.unsafeGetTensorImpl()->set_sizes_contiguous(result.sizes());
  out.tensor.copy_(result);
}

enum class ScatterReduce : int64_t { kNone = 0, kAdd = 1, kMultiply = 2 };

void scatter_into(const at::Tensor& out, int64_t dim, In index, In source, int64_t reduce) {
  switch (static_cast<ScatterReduce>(reduce)) {
    case ScatterReduce::kNone:
      movable(out).scatter_(dim, as_long(index), movable(source));
      return;
    case ScatterReduce::kAdd:
      out.scatter_(dim, as_long(index), source, "add");
      return;
    case ScatterReduce::kMultiply:
      out.scatter_(dim, as_long(index), source, "multiply");
      return;
  }
  TORCH_CHECK(false, "reduce must be 0 (none), 1 (add) or 2 (multiply), got ", reduce);
}

void scatter_value_into(const at::Tensor& out, int64_t dim, In index, Number value, int64_t reduce) {
  switch (static_cast<ScatterReduce>(reduce)) {
    case ScatterReduce::kNone:
      out.scatter_(dim, as_long(index), value);
      return;
    case ScatterReduce::kAdd:
      out.scatter_(dim, as_long(index), value, "add");
      return;
    case ScatterReduce::kMultiply:
      out.scatter_(dim, as_long(index), value, "multiply");
      return;
  }
  TORCH_CHECK(false, "reduce must be 0 (none), 1 (add) or 2 (multiply), got ", reduce);
}

}  // namespace

HOSTNPU_OPERATOR(Index, (In self, Tensors indices, Out out)) {
  if (out.numel() > 0) {
    store(movable(out), at::index(movable(self), index_list(indices)));
  }
}
HOSTNPU_OPERATOR(IndexPutImpl, (Out self, Tensors indices, In values, bool accumulate, bool /*unsafe*/)) {
  if (!selects_nothing(indices)) {
    (accumulate ? self : movable(self)).index_put_(index_list(indices), accumulate ? values : movable(values), accumulate);
  }
}

HOSTNPU_OPERATOR(IndexSelect, (In self, int64_t dim, In index, Out out)) {
  at::Tensor target = movable(out);
  at::index_select_out(target, movable(self), dim, index);
}
HOSTNPU_OPERATOR(IndexCopy, (In self, int64_t dim, In index, In source, Out out)) {
  store(movable(out), at::index_copy(movable(self), dim, as_long(index), movable(source)));
}
HOSTNPU_OPERATOR(InplaceIndexCopy, (Out self, int64_t dim, In index, In source)) {
  movable(self).index_copy_(dim, as_long(index), movable(source));
}
HOSTNPU_OPERATOR(Gather, (In self, int64_t dim, In index, Out out)) {
  at::Tensor target = movable(out);
  at::gather_out(target, movable(self), dim, as_long(index));
}
HOSTNPU_OPERATOR(Scatter, (In self, int64_t dim, In index, In source, int64_t reduce, Out out)) {
  store(movable(out), movable(self));
  scatter_into(out, dim, index, source, reduce);
}
HOSTNPU_OPERATOR(InplaceScatter, (Out self, int64_t dim, In index, In source, int64_t reduce)) {
  scatter_into(self, dim, index, source, reduce);
}

HOSTNPU_OPERATOR(ScatterValue, (In self, int64_t dim, In index, Number value, int64_t reduce, Out out)) {
  store(movable(out), movable(self));
  scatter_value_into(out, dim, index, value, reduce);
}
HOSTNPU_OPERATOR(InplaceScatterValue, (Out self, int64_t dim, In index, Number value, int64_t reduce)) {
  scatter_value_into(self, dim, index, value, reduce);
}
HOSTNPU_OPERATOR(ScatterAdd, (In self, int64_t dim, In index, In source, Out out)) {
  at::scatter_add_out(out, self, dim, as_long(index), source);
}
HOSTNPU_OPERATOR(IndexAdd, (In self, int64_t dim, In index, In source, Number alpha, Out out)) {
  at::index_add_out(out, self, dim, index, source, alpha);
}
HOSTNPU_OPERATOR(InplaceIndexFill, (Out self, int64_t dim, In index, Number value)) {
  self.index_fill_(dim, as_long(index), value);
}
HOSTNPU_OPERATOR(IndexFillTensor, (In self, int64_t dim, Ints index, Number value, Out out)) {
  store(out, at::index_fill(self, dim, at::tensor(at::IntArrayRef(index)), value));
}

// The classes take a dimension of their own at `axis`. A number outside them has `off` everywhere.
HOSTNPU_OPERATOR(OneHot, (In self, int classes, In on, In off, int64_t axis, Out out)) {
  const at::Tensor index = as_long(self).unsqueeze(axis);
  std::vector<int64_t> shape(static_cast<std::size_t>(index.dim()), 1);
  shape[static_cast<std::size_t>(at::maybe_wrap_dim(axis, index.dim()))] = classes;
  const at::Tensor hit = index == at::arange(classes, at::kLong).view(shape);
  store(out, at::where(hit, on.reshape({}), off.reshape({})));
}

HOSTNPU_OPERATOR(Embedding, (In weight, In indices, Out out)) { store(movable(out), at::embedding(movable(weight), indices)); }
HOSTNPU_OPERATOR(EmbeddingDenseBackward,
                 (In gradient, In indices, uint64_t rows, uint64_t padding_row, bool scale_by_frequency, Out out)) {
  // "No padding" is -1, which arrives as the largest unsigned number.
  const at::Tensor result = at::embedding_dense_backward(widened(gradient), as_long(indices), static_cast<int64_t>(rows),
                                                         static_cast<int64_t>(padding_row), scale_by_frequency);
  store(out, result);
}

HOSTNPU_OPERATOR(MaskedSelect, (In self, In mask, ShrinkingOut out)) {
  store_with_own_shape(out, at::masked_select(self, mask.to(at::kBool)));
}
// A row an element that is not zero.
HOSTNPU_OPERATOR(Nonzero, (In self, ShrinkingOut out)) { store_with_own_shape(out, at::nonzero(self)); }
// A column an element that is not zero.
HOSTNPU_OPERATOR(NonzeroV2, (In self, ShrinkingOut out)) { store_with_own_shape(out, at::nonzero(self).t().contiguous()); }

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// Small pieces that operator bodies share.
#include "opapi/compute.h"

namespace hostnpu {
namespace {

at::ScalarType movable_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat8_e4m3fn:
    case at::kFloat8_e5m2:
    case at::kFloat8_e8m0fnu:
    case at::ScalarType::Float4_e2m1fn_x2:
      return at::kByte;
    case at::kUInt16:
      return at::kShort;
    case at::kUInt32:
      return at::kInt;
    case at::kUInt64:
      return at::kLong;
    case at::kComplexHalf:
      return at::kInt;
    default:
      return type;
  }
}

}  // namespace

void store(const at::Tensor& out, const at::Tensor& result) {
  TORCH_CHECK(out.sizes() == result.sizes(), "the output has shape ", out.sizes(), ", the result ", result.sizes());
  out.copy_(result);
}

void store_flat(const at::Tensor& out, const at::Tensor& result) {
  TORCH_CHECK(out.numel() == result.numel(), "the output has shape ", out.sizes(), ", the result ", result.sizes());
  out.copy_(result.reshape(out.sizes()));
}

at::Tensor movable(const at::Tensor& tensor) {
  const auto type = movable_type(tensor.scalar_type());
  return type == tensor.scalar_type() ? tensor : tensor.view(type);
}

std::vector<at::Tensor> movable(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  result.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    result.push_back(movable(tensor));
  }
  return result;
}

at::OptionalIntArrayRef dims_or_all(const std::vector<int64_t>& dims) {
  return dims.empty() ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(dims);
}

at::Tensor as_long(const at::Tensor& index) { return index.to(at::kLong); }

bool is_reduced_float(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

at::Tensor widened(const at::Tensor& tensor) { return is_reduced_float(tensor) ? tensor.to(at::kFloat) : tensor; }

std::optional<at::Tensor> widened(const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional<at::Tensor>(widened(*tensor)) : std::nullopt;
}

at::Tensor unpacked_bits(const at::Tensor& mask, int64_t count) {
  constexpr int64_t kBitsPerByte = 8;
  TORCH_CHECK(mask.numel() * kBitsPerByte >= count, "the bit mask has ", mask.numel(), " bytes, too few for ", count,
              " elements");
  const at::Tensor shifts = at::arange(kBitsPerByte, at::kByte);
  const at::Tensor bits = at::bitwise_and(at::bitwise_right_shift(mask.reshape({-1, 1}).view(at::kByte), shifts), 1);
  return bits.view({-1}).narrow(0, 0, count).to(at::kBool);
}

namespace {

// ATen adds up long rows of fp32 one after the other, which is wrong by 1e-3 at ten million elements; the NPU adds in a tree. So the
// norm of all elements is taken as the norm of the norms of short rows.
at::Tensor norm_of_all(const at::Tensor& self, const at::Scalar& order, at::ScalarType type) {
  constexpr int64_t kRow = 4096;
  const at::Tensor flat = self.is_non_overlapping_and_dense() ? self.as_strided({self.numel()}, {1}) : self.reshape({-1});
  const int64_t rows = flat.numel() / kRow;
  const int64_t rest = flat.numel() - rows * kRow;
  at::Tensor norms = at::linalg_vector_norm(flat.narrow(0, 0, rows * kRow).view({rows, kRow}), order, at::IntArrayRef{1},
                                            /*keepdim=*/false, type);
  if (rest > 0) {
    norms = at::cat(
        {norms, at::linalg_vector_norm(flat.narrow(0, rows * kRow, rest), order, std::nullopt, /*keepdim=*/true, type)});
  }
  // Norm 0 counts what is not zero: counts add up.
  const at::Scalar outer = order.toDouble() == 0 ? at::Scalar(1) : order;
  return at::linalg_vector_norm(norms.to(at::kDouble), outer);
}

bool reduces_all(const at::Tensor& self, at::OptionalIntArrayRef dims) {
  return !dims.has_value() || static_cast<int64_t>(dims->size()) == self.dim();
}

}  // namespace

void vector_norm(const at::Tensor& out, const at::Tensor& self, const at::Scalar& order, at::OptionalIntArrayRef dims,
                 bool keep_dims) {
  constexpr int64_t kLong = 1 << 14;
  if (self.is_floating_point() && self.numel() > kLong && reduces_all(self, dims)) {
    const auto type = self.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    store_flat(out, norm_of_all(self, order, type));
    return;
  }
  // ATen takes an output type only if it holds all values of the input type.
  const bool widening =
      self.is_floating_point() && c10::promoteTypes(self.scalar_type(), out.scalar_type()) == out.scalar_type();
  if (widening) {
    at::Tensor result = out;
    at::linalg_vector_norm_out(result, self, order, dims, keep_dims, out.scalar_type());
    return;
  }
  const at::Tensor floating = self.is_floating_point() || self.is_complex() ? self : self.to(at::kFloat);
  store(out, at::linalg_vector_norm(floating, order, dims, keep_dims));
}

}  // namespace hostnpu

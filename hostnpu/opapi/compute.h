// SPDX-License-Identifier: Apache-2.0
// Small pieces that operator bodies share.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace hostnpu {

// Copies a result that ATen has no out= form for. Unlike copy_ it does not broadcast: another shape is an error.
void store(const at::Tensor& out, const at::Tensor& result);

// As store, for outputs that the caller shapes in another way (a trailing 1, one element instead of none): only the number of
// elements must agree.
void store_flat(const at::Tensor& out, const at::Tensor& result);

// For operators that move elements without looking at them: the same memory as a type of the same width that all of ATen's CPU
// kernels know. fp8, fp4, unsigned and half-complex types have few kernels of their own.
at::Tensor movable(const at::Tensor& tensor);
std::vector<at::Tensor> movable(const std::vector<at::Tensor>& tensors);

// CANN's list of dimensions to reduce: empty means all.
at::OptionalIntArrayRef dims_or_all(const std::vector<int64_t>& dims);

// ATen's index operators on the CPU want int64 in most places, CANN's also take int32.
at::Tensor as_long(const at::Tensor& index);

// True for fp16 and bf16, whose intermediate results CANN keeps in fp32.
bool is_reduced_float(const at::Tensor& tensor);

// The tensor in fp32 if it is fp16 or bf16, else itself.
at::Tensor widened(const at::Tensor& tensor);
std::optional<at::Tensor> widened(const std::optional<at::Tensor>& tensor);

// The first `count` bits of a bit mask as booleans, from the lowest bit of the first byte on.
at::Tensor unpacked_bits(const at::Tensor& mask, int64_t count);

// The vector norm of `self` over `dims` into `out`, whose type may differ from self's.
void vector_norm(const at::Tensor& out, const at::Tensor& self, const at::Scalar& order, at::OptionalIntArrayRef dims,
                 bool keep_dims);

}  // namespace hostnpu

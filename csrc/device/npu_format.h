// SPDX-License-Identifier: Apache-2.0
// How an NPU keeps a tensor's elements in memory.
#pragma once

#include <ATen/core/Tensor.h>

namespace msprobe::device::npu {

// True unless the tensor is in one of CANN's blocked formats (FRACTAL_NZ, ...), whose memory does not follow sizes and strides.
bool has_plain_format(const at::Tensor& x);

// x, or a copy in a plain format.
at::Tensor in_plain_format(const at::Tensor& x);

}  // namespace msprobe::device::npu

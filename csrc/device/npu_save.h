// SPDX-License-Identifier: Apache-2.0
// Saving NPU tensors: a callback in the stream, or in the graph, copies the values off the device and hands them to the queue.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace msprobe::device::npu {

void save_from_npu(const at::Tensor& x, const std::string& base);

}  // namespace msprobe::device::npu

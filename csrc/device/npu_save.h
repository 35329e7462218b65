// SPDX-License-Identifier: Apache-2.0
// Saving NPU tensors: a callback in the stream, or in the graph, copies the values off the device and hands them to the queue.
#pragma once

#include <ATen/core/Tensor.h>

#include "device/save_sink.h"

namespace msprobe::device::npu {

void save_from_npu(const at::Tensor& x, c10::Device device, MakeTarget make_target);

}  // namespace msprobe::device::npu

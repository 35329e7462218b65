// SPDX-License-Identifier: Apache-2.0
// Torch's streams of one device: the current one, and the wait for others.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <span>

namespace msprobe::device::npu {

c10::Stream torch_stream(c10::Device device);

// Rows written on other streams of the same graph (or eagerly) are waited for, whether the model has joined them already or not.
// Inside a capture this is a fork's join: the side stream's last task is again a record that someone waits for.
void join_streams(std::span<const c10::Stream> others, const c10::Stream& current);

}  // namespace msprobe::device::npu

// SPDX-License-Identifier: Apache-2.0
// Where the devices' libraries hand saved tensors over. One queue a process, which lives in libmsprobe_ops.so.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "device/export.h"
#include "dump/save_target.h"

namespace msprobe::device {

// Makes the target of a save, once it is known whether it is captured.
using MakeTarget = c10::function_ref<std::unique_ptr<dump::SaveTarget>(bool captured)>;

// What is to be saved: a contiguous tensor without lazy bits.
struct SavedTensor {
  DType dtype = DType::kUnknown;
  std::vector<std::int64_t> sizes;
  std::size_t bytes = 0;
};

// One execution of a save: asks the target, waits for room, copies, queues. `copy` fills host memory of tensor.bytes > 0 bytes; what it
// throws is told as the save's error.
MSPROBE_API void save_once(dump::SaveTarget& target, const SavedTensor& tensor,
                           c10::function_ref<void(std::byte* to)> copy) noexcept;

MSPROBE_API SavedTensor describe_saved(const at::Tensor& plain);

// Saves x in the order of `device`'s current stream, or at every replay if that is being captured; x may be a host tensor, which has the
// value of this moment then. x is dense.
using SaveFunction = std::function<void(const at::Tensor& x, c10::Device device, MakeTarget make_target)>;

// Waits for all work on a device, whose saves are then in the queue.
using WaitFunction = std::function<void(c10::Device device)>;

// A vendor's library registers its ways when it is loaded.
MSPROBE_API void register_save(c10::DeviceType type, SaveFunction save, WaitFunction wait);

// Throws Error for a device without a library, c10::Error during a capture.
void wait_for_saves(c10::Device device);

// Saves a host tensor now.
MSPROBE_API void save_from_host(const at::Tensor& x, dump::SaveTarget& target);

// Why x has no values that could be saved; empty if it has.
std::string why_not_saved(const at::Tensor& x);

// `with`: the accelerator that a host tensor is used together with. Throws Error for a device without a library. x has values.
void save_tensor(const at::Tensor& x, std::optional<c10::Device> with, MakeTarget make_target);

}  // namespace msprobe::device

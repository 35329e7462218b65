// SPDX-License-Identifier: Apache-2.0
// Where the devices' libraries hand saved tensors over. One queue a process, which lives in libmsprobe_ops.so.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <string>

#include "device/export.h"
#include "dump/save_queue.h"

namespace msprobe::device {

// The steps of a save, as dump::Saver has them: number, room, then the data or the reason why not.
MSPROBE_API std::string next_save_path(const std::string& base);
MSPROBE_API bool acquire_save_room(std::size_t bytes, const std::string& path);
MSPROBE_API dump::SaveBuffer allocate_save_buffer(std::size_t bytes);
MSPROBE_API void push_save(dump::SaveJob job);
MSPROBE_API void give_up_save(std::size_t bytes, std::string message);

// Saves x under `base` (an absolute path without number and extension), now or at every replay. x is strided.
using SaveFunction = std::function<void(const at::Tensor& x, const std::string& base)>;

// A vendor's library registers its way when it is loaded.
MSPROBE_API void register_save(c10::DeviceType type, SaveFunction save);

// Throws Error for a device without a library.
void save_tensor(const at::Tensor& x, const std::string& base);

}  // namespace msprobe::device

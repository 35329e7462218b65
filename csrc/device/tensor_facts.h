// SPDX-License-Identifier: Apache-2.0
// What a record keeps of a tensor besides its numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include "device/export.h"
#include "log/record.h"
#include "log/session.h"

namespace msprobe::device {

MSPROBE_API DType dtype_of(at::ScalarType type) noexcept;  // kUnknown for quantised and bit types

// False for a tensor that has a shape and no values: its storage was freed, or it stands for zeros without memory (forward-mode AD).
MSPROBE_API bool has_memory(const at::Tensor& x);

// Tag, dtype and shape of x; numbers empty. Works for any layout and device.
MSPROBE_API log::Record describe(const at::Tensor& x, log::TagId tag, log::Session& session);

}  // namespace msprobe::device

// SPDX-License-Identifier: Apache-2.0
// The closed set of names that a .pt file may refer to, and what each stands for. None of them is ever looked up or called.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/dtype.h"

namespace msprobe::read {

enum class GlobalKind : std::uint8_t {
  kRebuildTensor,              // _rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, hooks[, metadata])
  kRebuildTensorWithDtype,     // _rebuild_tensor_v3: the same with the dtype before the metadata
  kRebuildParameter,           // _rebuild_parameter(tensor, requires_grad, hooks)
  kRebuildParameterWithState,  // the same with the attributes that a user gave it
  kRebuildFromType,            // _rebuild_from_type_v2(function, class, arguments, attributes)
  kTensorClass,                // Tensor, Parameter
  kOrderedDict,
  kDtype,           // torch.uint16, …
  kTypedStorage,    // torch.FloatStorage, …: a count of elements of `dtype`
  kUntypedStorage,  // a count of bytes
};

struct Global {
  GlobalKind kind;
  DType dtype = DType::kUnknown;
};

// Throws Error, beginning with `where`, for a name that is not in the set; it says what is in the file where the name tells that.
Global find_global(std::string_view module, std::string_view name, std::string_view where);

}  // namespace msprobe::read

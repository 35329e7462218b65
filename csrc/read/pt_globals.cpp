// SPDX-License-Identifier: Apache-2.0
// The table of names: those that are read, and those that tell why a file is not.
#include "read/pt_globals.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "read/printable.h"

namespace msprobe::read {
namespace {

struct NamedGlobal {
  std::string_view module;
  std::string_view name;
  Global global;
};

constexpr std::array kGlobals{
    NamedGlobal{"torch._utils", "_rebuild_tensor_v2", {GlobalKind::kRebuildTensor}},
    NamedGlobal{"torch._utils", "_rebuild_tensor_v3", {GlobalKind::kRebuildTensorWithDtype}},
    NamedGlobal{"torch._utils", "_rebuild_parameter", {GlobalKind::kRebuildParameter}},
    NamedGlobal{"torch._utils", "_rebuild_parameter_with_state", {GlobalKind::kRebuildParameterWithState}},
    NamedGlobal{"torch._tensor", "_rebuild_from_type_v2", {GlobalKind::kRebuildFromType}},
    NamedGlobal{"torch", "Tensor", {GlobalKind::kTensorClass}},
    NamedGlobal{"torch.nn.parameter", "Parameter", {GlobalKind::kTensorClass}},
    NamedGlobal{"collections", "OrderedDict", {GlobalKind::kOrderedDict}},
    NamedGlobal{"torch", "BoolStorage", {GlobalKind::kTypedStorage, DType::kBool}},
    NamedGlobal{"torch", "ByteStorage", {GlobalKind::kTypedStorage, DType::kUInt8}},
    NamedGlobal{"torch", "CharStorage", {GlobalKind::kTypedStorage, DType::kInt8}},
    NamedGlobal{"torch", "ShortStorage", {GlobalKind::kTypedStorage, DType::kInt16}},
    NamedGlobal{"torch", "IntStorage", {GlobalKind::kTypedStorage, DType::kInt32}},
    NamedGlobal{"torch", "LongStorage", {GlobalKind::kTypedStorage, DType::kInt64}},
    NamedGlobal{"torch", "HalfStorage", {GlobalKind::kTypedStorage, DType::kFloat16}},
    NamedGlobal{"torch", "BFloat16Storage", {GlobalKind::kTypedStorage, DType::kBFloat16}},
    NamedGlobal{"torch", "FloatStorage", {GlobalKind::kTypedStorage, DType::kFloat32}},
    NamedGlobal{"torch", "DoubleStorage", {GlobalKind::kTypedStorage, DType::kFloat64}},
    NamedGlobal{"torch", "ComplexFloatStorage", {GlobalKind::kTypedStorage, DType::kComplex64}},
    NamedGlobal{"torch", "ComplexDoubleStorage", {GlobalKind::kTypedStorage, DType::kComplex128}},
    NamedGlobal{"torch.storage", "UntypedStorage", {GlobalKind::kUntypedStorage}},
};

struct Refused {
  std::string_view module;
  std::string_view name;
  std::string_view what;
};

constexpr std::array kRefused{
    Refused{"torch._utils", "_rebuild_qtensor", "a quantised tensor; save x.dequantize() or x.int_repr()"},
    Refused{"torch._utils", "_rebuild_sparse_tensor", "a sparse tensor; save x.to_dense()"},
    Refused{"torch._utils", "_rebuild_nested_tensor", "a nested tensor; save its parts"},
    Refused{"torch._utils", "_rebuild_meta_tensor_no_storage", "a meta tensor, which has no values"},
    Refused{"torch._utils", "_rebuild_wrapper_subclass", "a tensor subclass; save a plain tensor"},
    Refused{"torch._utils", "_rebuild_device_tensor_from_numpy", "a tensor by way of numpy; save x.cpu()"},
    Refused{"torch._utils", "_rebuild_device_tensor_from_cpu_tensor", "a tensor of a device without storages; save x.cpu()"},
    Refused{"torch.serialization", "_get_layout", "a sparse tensor; save x.to_dense()"},
};

constexpr std::string_view kTorchPrefix = "torch.";

// Types of torch whose values are no numbers to us: bits8, qint8, uint4, …
bool names_dtype(std::string_view name) {
  constexpr std::array<std::string_view, 6> kBegins{"bits", "qint", "quint", "int", "uint", "float"};
  return std::any_of(kBegins.begin(), kBegins.end(), [name](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace

Global find_global(std::string_view module, std::string_view name, std::string_view where) {
  for (const NamedGlobal& known : kGlobals) {
    if (known.module == module && known.name == name) {
      return known.global;
    }
  }
  if (module == "torch") {
    for (int index = 0; index < static_cast<int>(DType::kUnknown); ++index) {
      const auto dtype = static_cast<DType>(index);
      if (dtype_name(dtype).substr(kTorchPrefix.size()) == name) {
        return {GlobalKind::kDtype, dtype};
      }
    }
  }
  for (const Refused& refused : kRefused) {
    if (refused.module == module && refused.name == name) {
      fail(where, "the file must hold a dense tensor of numbers, got ", refused.what);
    }
  }
  if (module == "torch" && names_dtype(name)) {
    fail(where, "the file must hold a tensor of numbers, got the dtype torch.", printable(name));
  }
  fail(where, "a saved tensor has no use for '", printable(module), ".", printable(name),
       "', and nothing else in a file is looked up or run; save a plain torch.Tensor");
}

}  // namespace msprobe::read

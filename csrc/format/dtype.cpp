// SPDX-License-Identifier: Apache-2.0
// The one table of the element types: name, size, kind.
#include "format/dtype.h"

#include <array>

namespace msprobe {
namespace {

enum class Family : std::uint8_t { kIntegral, kFloating, kComplex, kNone };

struct Entry {
  DType dtype;
  std::string_view name;
  std::size_t size;
  Family family;
};

constexpr std::array kEntries{
    Entry{DType::kBool, "torch.bool", 1, Family::kIntegral},
    Entry{DType::kUInt8, "torch.uint8", 1, Family::kIntegral},
    Entry{DType::kInt8, "torch.int8", 1, Family::kIntegral},
    Entry{DType::kUInt16, "torch.uint16", 2, Family::kIntegral},
    Entry{DType::kInt16, "torch.int16", 2, Family::kIntegral},
    Entry{DType::kUInt32, "torch.uint32", 4, Family::kIntegral},
    Entry{DType::kInt32, "torch.int32", 4, Family::kIntegral},
    Entry{DType::kUInt64, "torch.uint64", 8, Family::kIntegral},
    Entry{DType::kInt64, "torch.int64", 8, Family::kIntegral},
    Entry{DType::kFloat16, "torch.float16", 2, Family::kFloating},
    Entry{DType::kBFloat16, "torch.bfloat16", 2, Family::kFloating},
    Entry{DType::kFloat32, "torch.float32", 4, Family::kFloating},
    Entry{DType::kFloat64, "torch.float64", 8, Family::kFloating},
    Entry{DType::kComplex32, "torch.complex32", 4, Family::kComplex},
    Entry{DType::kComplex64, "torch.complex64", 8, Family::kComplex},
    Entry{DType::kComplex128, "torch.complex128", 16, Family::kComplex},
    Entry{DType::kFloat8E4M3FN, "torch.float8_e4m3fn", 1, Family::kFloating},
    Entry{DType::kFloat8E4M3FNUZ, "torch.float8_e4m3fnuz", 1, Family::kFloating},
    Entry{DType::kFloat8E5M2, "torch.float8_e5m2", 1, Family::kFloating},
    Entry{DType::kFloat8E5M2FNUZ, "torch.float8_e5m2fnuz", 1, Family::kFloating},
    Entry{DType::kFloat8E8M0FNU, "torch.float8_e8m0fnu", 1, Family::kFloating},
    Entry{DType::kFloat4E2M1FNX2, "torch.float4_e2m1fn_x2", 1, Family::kFloating},
    Entry{DType::kUnknown, "unknown", 0, Family::kNone},
};

// Values that are no enumerator (a corrupt byte read as DType) are treated as kUnknown.
constexpr const Entry& entry_of(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kEntries.size() ? kEntries[index] : kEntries.back();
}

constexpr bool indexed_by_dtype() {
  for (std::size_t index = 0; index < kEntries.size(); ++index) {
    if (kEntries[index].dtype != static_cast<DType>(index)) {
      return false;
    }
  }
  return kEntries.back().dtype == DType::kUnknown;
}
static_assert(indexed_by_dtype(), "kEntries must follow the order of DType");

}  // namespace

std::string_view dtype_name(DType dtype) noexcept { return entry_of(dtype).name; }

std::size_t dtype_size(DType dtype) noexcept { return entry_of(dtype).size; }

bool is_floating(DType dtype) noexcept { return entry_of(dtype).family == Family::kFloating; }

bool is_complex(DType dtype) noexcept { return entry_of(dtype).family == Family::kComplex; }

bool is_integral(DType dtype) noexcept { return entry_of(dtype).family == Family::kIntegral; }

}  // namespace msprobe

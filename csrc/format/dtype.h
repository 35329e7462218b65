// SPDX-License-Identifier: Apache-2.0
// The element types a tensor can have, with the names that stand in dump.json. Knows nothing of torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace msprobe {

// Order is part of no format: only the names (dtype_name) are written to files.
enum class DType : std::uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kUInt64,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex32,  // two float16
  kComplex64,  // two float32
  kComplex128,
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kFloat8E8M0FNU,
  kFloat4E2M1FNX2,  // one byte holds two values, low nibble first; shapes count bytes, as torch's do
  kUnknown,         // a type without a number meaning (quantised, bits): shape is recorded, numbers are null
};

// "torch.float32", ...; "unknown" for kUnknown.
std::string_view dtype_name(DType dtype) noexcept;

// Bytes of one element as torch counts it (1 for the packed fp4); 0 for kUnknown.
std::size_t dtype_size(DType dtype) noexcept;

bool is_floating(DType dtype) noexcept;  // fp64 down to fp4; not complex
bool is_complex(DType dtype) noexcept;
bool is_integral(DType dtype) noexcept;  // ints and bool

}  // namespace msprobe

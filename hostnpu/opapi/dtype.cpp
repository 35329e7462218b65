// SPDX-License-Identifier: Apache-2.0
// The table of data types.
#include "opapi/dtype.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <cstring>

namespace hostnpu {
namespace {

template <class Value>
Value read(const void* address) {
  Value value;
  std::memcpy(&value, address, sizeof(value));
  return value;
}

}  // namespace

// clang-format off: tables, a type a line
std::optional<at::ScalarType> scalar_type(aclDataType type) {
  switch (type) {
    case ACL_FLOAT: return at::kFloat;
    case ACL_FLOAT16: return at::kHalf;
    case ACL_BF16: return at::kBFloat16;
    case ACL_DOUBLE: return at::kDouble;
    case ACL_INT8: return at::kChar;
    case ACL_INT16: return at::kShort;
    case ACL_INT32: return at::kInt;
    case ACL_INT64: return at::kLong;
    case ACL_UINT8: return at::kByte;
    case ACL_UINT16: return at::kUInt16;
    case ACL_UINT32: return at::kUInt32;
    case ACL_UINT64: return at::kUInt64;
    case ACL_BOOL: return at::kBool;
    case ACL_COMPLEX32: return at::kComplexHalf;
    case ACL_COMPLEX64: return at::kComplexFloat;
    case ACL_COMPLEX128: return at::kComplexDouble;
    case ACL_FLOAT8_E5M2: return at::kFloat8_e5m2;
    case ACL_FLOAT8_E4M3FN: return at::kFloat8_e4m3fn;
    case ACL_FLOAT8_E8M0: return at::kFloat8_e8m0fnu;
    case ACL_FLOAT4_E2M1: return at::ScalarType::Float4_e2m1fn_x2;
    default: return std::nullopt;
  }
}

std::optional<at::Scalar> read_scalar(const void* value, aclDataType type) {
  switch (type) {
    case ACL_FLOAT: return at::Scalar(read<float>(value));
    case ACL_FLOAT16: return at::Scalar(read<c10::Half>(value));
    case ACL_BF16: return at::Scalar(read<c10::BFloat16>(value));
    case ACL_DOUBLE: return at::Scalar(read<double>(value));
    case ACL_INT8: return at::Scalar(read<int8_t>(value));
    case ACL_INT16: return at::Scalar(read<int16_t>(value));
    case ACL_INT32: return at::Scalar(read<int32_t>(value));
    case ACL_INT64: return at::Scalar(read<int64_t>(value));
    case ACL_UINT8: return at::Scalar(read<uint8_t>(value));
    case ACL_UINT16: return at::Scalar(read<uint16_t>(value));
    case ACL_UINT32: return at::Scalar(read<uint32_t>(value));
    case ACL_UINT64: return at::Scalar(read<uint64_t>(value));
    case ACL_BOOL: return at::Scalar(read<bool>(value));
    case ACL_COMPLEX64: return at::Scalar(read<c10::complex<float>>(value));
    case ACL_COMPLEX128: return at::Scalar(read<c10::complex<double>>(value));
    default: return std::nullopt;
  }
}
// clang-format on

}  // namespace hostnpu

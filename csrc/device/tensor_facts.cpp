// SPDX-License-Identifier: Apache-2.0
// dtype and shape of torch tensors in msprobe's own terms.
#include "device/tensor_facts.h"

#include <c10/core/ScalarType.h>

#include <string>

namespace msprobe::device {

DType dtype_of(at::ScalarType type) noexcept {
  switch (type) {
    case at::kBool:
      return DType::kBool;
    case at::kByte:
      return DType::kUInt8;
    case at::kChar:
      return DType::kInt8;
    case at::kUInt16:
      return DType::kUInt16;
    case at::kShort:
      return DType::kInt16;
    case at::kUInt32:
      return DType::kUInt32;
    case at::kInt:
      return DType::kInt32;
    case at::kUInt64:
      return DType::kUInt64;
    case at::kLong:
      return DType::kInt64;
    case at::kHalf:
      return DType::kFloat16;
    case at::kBFloat16:
      return DType::kBFloat16;
    case at::kFloat:
      return DType::kFloat32;
    case at::kDouble:
      return DType::kFloat64;
    case at::kComplexHalf:
      return DType::kComplex32;
    case at::kComplexFloat:
      return DType::kComplex64;
    case at::kComplexDouble:
      return DType::kComplex128;
    case at::kFloat8_e4m3fn:
      return DType::kFloat8E4M3FN;
    case at::kFloat8_e4m3fnuz:
      return DType::kFloat8E4M3FNUZ;
    case at::kFloat8_e5m2:
      return DType::kFloat8E5M2;
    case at::kFloat8_e5m2fnuz:
      return DType::kFloat8E5M2FNUZ;
#if __has_include(<c10/util/Float8_e8m0fnu.h>)
    case at::ScalarType::Float8_e8m0fnu:
      return DType::kFloat8E8M0FNU;
#endif
#if __has_include(<c10/util/Float4_e2m1fn_x2.h>)
    case at::ScalarType::Float4_e2m1fn_x2:
      return DType::kFloat4E2M1FNX2;
#endif
    default:
      return DType::kUnknown;
  }
}

bool has_memory(const at::Tensor& x) {
  if (x.numel() == 0) {
    return true;
  }
  if (x._is_zerotensor() || !x.has_storage() || x.storage().data() == nullptr) {
    return false;
  }
  std::int64_t last = x.storage_offset();  // the largest element used, since torch's strides are not negative
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    last += (x.size(i) - 1) * x.stride(i);
  }
  return static_cast<std::size_t>(last + 1) * x.element_size() <= x.storage().nbytes();
}

log::Record describe(const at::Tensor& x, log::TagId tag, log::Session& session) {
  log::Record record;
  record.tag = tag;
  record.position = session.next_position();
  record.dtype = dtype_of(x.scalar_type());
  if (record.dtype == DType::kUnknown) {
    record.note = session.notes.intern(std::string("dtype ") + c10::toString(x.scalar_type()));
  }
  if (x.is_nested()) {  // has no one shape
    record.shape = session.shapes.intern(at::IntArrayRef{});
  } else {
    record.shape = session.shapes.intern(x.sizes());
  }
  return record;
}

}  // namespace msprobe::device

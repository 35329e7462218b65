// SPDX-License-Identifier: Apache-2.0
// aclCreateXxx and aclDestroyXxx: how a caller describes the arguments of an operator.
#include "opapi/objects.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string>

#include "acl/acl.h"
#include "opapi/dtype.h"
#include "opapi/operator_table.h"
#include "runtime/submit.h"

namespace hostnpu {
namespace {

constexpr int64_t kFp4PerByte = 2;

// torch_npu tells sizes and strides of 4-bit types in values, while an ATen element is a byte of two values. The packed dimension
// is the one whose neighbours are one value apart; offsets are told in bytes.
void pack_fp4(at::DimVector& sizes, at::DimVector& strides) {
  bool packed = false;
  for (size_t reversed = 0; reversed < sizes.size(); ++reversed) {
    const size_t dim = sizes.size() - 1 - reversed;
    if (!packed && strides[dim] == 1 && sizes[dim] % kFp4PerByte == 0) {
      sizes[dim] /= kFp4PerByte;
      packed = true;
    } else {
      strides[dim] /= kFp4PerByte;
    }
  }
  TORCH_CHECK(packed, "aclCreateTensor: a tensor of 4-bit values must have a dimension of stride 1 and even size");
}

// A tensor over memory that somebody else owns. at::from_blob does the same at three times the cost: this runs for every operand
// of every operator.
at::Tensor view_of_memory(void* base, int64_t offset, at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type) {
  const auto meta = c10::scalarTypeToTypeMeta(type);
  void* first = static_cast<char*>(base) + offset * static_cast<int64_t>(meta.itemsize());
  const size_t bytes = at::detail::computeStorageNbytes(sizes, strides, meta.itemsize());
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                       at::DataPtr(first, at::Device(at::kCPU)), /*allocator=*/nullptr,
                                                       /*resizable=*/false);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(std::move(storage)),
                                                         c10::DispatchKeySet(c10::DispatchKey::CPU), meta);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

// Runs `make` and turns an exception into a null handle and an error text: no exception may cross the C interface.
template <class Make>
auto guarded(const char* function, Make make) -> decltype(make()) {
  try {
    return make();
  } catch (const c10::Error& error) {
    set_error_message(std::string(function) + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    set_error_message(std::string(function) + ": " + error.what());
  }
  return nullptr;
}

aclTensor* create_tensor(const int64_t* dims, uint64_t rank, aclDataType data_type, const int64_t* strides, int64_t offset,
                         void* data) {
  const auto type = scalar_type(data_type);
  TORCH_CHECK(type.has_value(), "hostnpu has no data type ", static_cast<int>(data_type), " (aclDataType)");
  at::DimVector sizes(dims, dims + rank);
  at::DimVector steps(rank);
  if (strides != nullptr) {
    std::copy_n(strides, rank, steps.begin());
  } else {
    int64_t step = 1;
    for (size_t reversed = 0; reversed < rank; ++reversed) {
      steps[rank - 1 - reversed] = step;
      step *= std::max<int64_t>(sizes[rank - 1 - reversed], 1);
    }
  }
  if (*type == at::ScalarType::Float4_e2m1fn_x2) {
    pack_fp4(sizes, steps);
  }
  return new aclTensor(view_of_memory(data, offset, sizes, steps, *type));
}

template <class Handle, class Content, class Item>
Handle* create_array(const Item* items, uint64_t size) {
  return new Handle(Content(items, items + size));
}

}  // namespace
}  // namespace hostnpu

using hostnpu::create_array;
using hostnpu::guarded;

extern "C" {

HOSTNPU_API aclTensor* aclCreateTensor(const int64_t* dims, uint64_t rank, aclDataType type, const int64_t* strides,
                                       int64_t offset, aclFormat /*format*/, const int64_t* /*storage_dims*/,
                                       uint64_t /*storage_rank*/, void* data) {
  return guarded("aclCreateTensor", [&] { return hostnpu::create_tensor(dims, rank, type, strides, offset, data); });
}

HOSTNPU_API aclScalar* aclCreateScalar(void* value, aclDataType type) {
  return guarded("aclCreateScalar", [&] {
    const auto scalar = hostnpu::read_scalar(value, type);
    TORCH_CHECK(scalar.has_value(), "hostnpu has no scalar of data type ", static_cast<int>(type), " (aclDataType)");
    return new aclScalar(*scalar);
  });
}

HOSTNPU_API aclIntArray* aclCreateIntArray(const int64_t* items, uint64_t size) {
  return guarded("aclCreateIntArray", [&] { return create_array<aclIntArray, std::vector<int64_t>>(items, size); });
}

HOSTNPU_API aclFloatArray* aclCreateFloatArray(const float* items, uint64_t size) {
  return guarded("aclCreateFloatArray", [&] { return create_array<aclFloatArray, std::vector<float>>(items, size); });
}

HOSTNPU_API aclBoolArray* aclCreateBoolArray(const bool* items, uint64_t size) {
  return guarded("aclCreateBoolArray", [&] { return create_array<aclBoolArray, std::vector<bool>>(items, size); });
}

// A list takes its elements over: the caller destroys the list only.
HOSTNPU_API aclTensorList* aclCreateTensorList(const aclTensor* const* items, uint64_t size) {
  return guarded("aclCreateTensorList", [&] {
    std::vector<at::Tensor> tensors(size);
    for (uint64_t i = 0; i < size; ++i) {
      if (items[i] != nullptr) {
        tensors[i] = items[i]->value;
        delete items[i];
      }
    }
    return new aclTensorList(std::move(tensors));
  });
}

HOSTNPU_API aclScalarList* aclCreateScalarList(const aclScalar* const* items, uint64_t size) {
  return guarded("aclCreateScalarList", [&] {
    std::vector<at::Scalar> scalars;
    scalars.reserve(size);
    for (uint64_t i = 0; i < size; ++i) {
      TORCH_CHECK(items[i] != nullptr, "element ", i, " is null");
      scalars.push_back(items[i]->value);
    }
    std::for_each(items, items + size, [](const aclScalar* item) { delete item; });
    return new aclScalarList(std::move(scalars));
  });
}

HOSTNPU_API int aclDestroyTensor(const aclTensor* object) {
  delete object;
  return ACL_SUCCESS;
}
HOSTNPU_API int aclDestroyScalar(const aclScalar* object) {
  delete object;
  return ACL_SUCCESS;
}
HOSTNPU_API int aclDestroyIntArray(const aclIntArray* object) {
  delete object;
  return ACL_SUCCESS;
}
HOSTNPU_API int aclDestroyFloatArray(const aclFloatArray* object) {
  delete object;
  return ACL_SUCCESS;
}
HOSTNPU_API int aclDestroyBoolArray(const aclBoolArray* object) {
  delete object;
  return ACL_SUCCESS;
}
HOSTNPU_API int aclDestroyTensorList(const aclTensorList* object) {
  delete object;
  return ACL_SUCCESS;
}
HOSTNPU_API int aclDestroyScalarList(const aclScalarList* object) {
  delete object;
  return ACL_SUCCESS;
}

// The shape as it is now: operators whose result has a shape of its own (nonzero, masked_select) shrink their output's view. The
// array belongs to the caller, who frees it with delete[].
HOSTNPU_API int aclGetViewShape(const aclTensor* tensor, int64_t** dims, uint64_t* rank) {
  if (tensor == nullptr || dims == nullptr || rank == nullptr) {
    hostnpu::set_error_message("aclGetViewShape: tensor, viewDims and viewDimsNum must not be null");
    return hostnpu::kAclnnNullParameter;
  }
  const auto sizes = tensor->value.sizes();
  *rank = sizes.size();
  *dims = new int64_t[sizes.size()];
  std::copy(sizes.begin(), sizes.end(), *dims);
  return ACL_SUCCESS;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// The opaque objects of the aclnn interface: tensors, scalars, arrays and lists as the caller made them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <cstdint>
#include <vector>

namespace hostnpu {

// The first word of every object. A caller whose idea of an operator's parameters differs from ours hands over an object of
// another kind, or a number, where a handle should be: the word turns that into an error that names the operator.
enum class ObjectTag : uint64_t {
  kTensor = 0x4143'4c00'5445'4e53,
  kScalar = 0x4143'4c00'5343'414c,
  kIntArray = 0x4143'4c00'494e'5441,
  kFloatArray = 0x4143'4c00'464c'5441,
  kBoolArray = 0x4143'4c00'424f'4f41,
  kTensorList = 0x4143'4c00'544e'4c53,
  kScalarList = 0x4143'4c00'5343'4c53,
};

template <ObjectTag kExpectedTag, class Content>
struct Object {
  static constexpr ObjectTag kTag = kExpectedTag;

  explicit Object(Content content) : value(std::move(content)) {}

  const ObjectTag tag = kTag;
  Content value;
};

}  // namespace hostnpu

// The names are those of the C interface. A tensor is a view of device memory (which is host memory here) that owns nothing;
// in a list an undefined tensor stands for a null handle.
struct aclTensor : hostnpu::Object<hostnpu::ObjectTag::kTensor, at::Tensor> {
  using Object::Object;
};
struct aclScalar : hostnpu::Object<hostnpu::ObjectTag::kScalar, at::Scalar> {
  using Object::Object;
};
struct aclIntArray : hostnpu::Object<hostnpu::ObjectTag::kIntArray, std::vector<int64_t>> {
  using Object::Object;
};
struct aclFloatArray : hostnpu::Object<hostnpu::ObjectTag::kFloatArray, std::vector<float>> {
  using Object::Object;
};
struct aclBoolArray : hostnpu::Object<hostnpu::ObjectTag::kBoolArray, std::vector<bool>> {
  using Object::Object;
};
struct aclTensorList : hostnpu::Object<hostnpu::ObjectTag::kTensorList, std::vector<at::Tensor>> {
  using Object::Object;
};
struct aclScalarList : hostnpu::Object<hostnpu::ObjectTag::kScalarList, std::vector<at::Scalar>> {
  using Object::Object;
};

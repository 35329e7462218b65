// SPDX-License-Identifier: Apache-2.0
// The kinds of parameters an operator definition may have: for each its type in the C interface, what of it a recorded task keeps,
// and how a handle becomes that. Everything a task keeps is a value: it outlives the caller's handles.
#pragma once

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>

#include <optional>
#include <string>
#include <vector>

#include "opapi/dtype.h"
#include "opapi/objects.h"

namespace hostnpu {

// A number that is ready to stand where ATen wants a tensor, without deciding the type of the result ("wrapped" in ATen's words).
struct WrappedNumber {
  at::Tensor tensor;
  operator const at::Tensor&() const { return tensor; }
};

// An output whose shape is the caller's to say. ATen's out= forms resize an output of another shape, so the shape is kept, to be
// looked at after the run.
struct Output {
  explicit Output(const at::Tensor& view) : tensor(view), sizes(view.sizes()) {}
  operator at::Tensor&() { return tensor; }

  at::Tensor tensor;
  at::DimVector sizes;
};

// An output of the largest size there can be, whose view the run gives the shape of the result. The view is the one of the
// caller's handle, so that aclGetViewShape tells the shape once the stream has run.
struct ShrinkingOutput {
  at::Tensor tensor;
};

// What operator definitions write. Everything but the Optional ones must be given: a null handle is an error.
using In = const at::Tensor&;                             // aclTensor*, read
using Out = at::Tensor&;                                  // aclTensor*, written
using ShrinkingOut = const ShrinkingOutput&;              // aclTensor*, written and given its shape
using OptionalIn = const std::optional<at::Tensor>&;      // aclTensor*, may be null
using OptionalOut = std::optional<at::Tensor>&;           // aclTensor*, may be null: not wanted
using Tensors = const std::vector<at::Tensor>&;           // aclTensorList*; null: empty
using Number = const at::Scalar&;                         // aclScalar*
using Operand = const WrappedNumber&;                     // aclScalar*, used as a tensor
using OptionalNumber = const std::optional<at::Scalar>&;  // aclScalar*, may be null
using Numbers = const std::vector<at::Scalar>&;           // aclScalarList*
using Ints = const std::vector<int64_t>&;                 // aclIntArray*; null: empty
using Bools = const std::vector<bool>&;                   // aclBoolArray*
using Text = const std::string&;                          // char*

// A handle of the wrong kind. Told apart from null, which has a code of its own.
[[noreturn]] void fail_wrong_object(const void* handle, ObjectTag expected);

struct NullArgument : std::exception {};

template <class Handle>
const Handle* checked(const Handle* handle) {
  constexpr uintptr_t kLowestAddress = 0x10000;
  const auto address = reinterpret_cast<uintptr_t>(handle);
  if (handle == nullptr) {
    return handle;
  }
  if (address < kLowestAddress || address % alignof(Handle) != 0 || handle->tag != Handle::kTag) {
    fail_wrong_object(handle, Handle::kTag);
  }
  return handle;
}

template <class Handle>
const Handle& required(const Handle* handle) {
  if (checked(handle) == nullptr) {
    throw NullArgument();
  }
  return *handle;
}

// Plain numbers (int64_t, float, bool ...) are passed and kept as they are.
template <class Parameter>
struct Argument {
  using Abi = Parameter;
  using Kept = Parameter;
  static Kept keep(Abi value) { return value; }
};

template <class Handle, class KeptType>
struct RequiredArgument {
  using Abi = const Handle*;
  using Kept = KeptType;
  static Kept keep(Abi handle) { return Kept{required(handle).value}; }
};

template <class Handle, class KeptType>
struct OptionalArgument {
  using Abi = const Handle*;
  using Kept = KeptType;
  static Kept keep(Abi handle) { return checked(handle) != nullptr ? Kept{handle->value} : Kept{}; }
};

template <>
struct Argument<In> : RequiredArgument<aclTensor, at::Tensor> {};
template <>
struct Argument<Out> : RequiredArgument<aclTensor, Output> {};
template <>
struct Argument<ShrinkingOut> : RequiredArgument<aclTensor, ShrinkingOutput> {};
template <>
struct Argument<OptionalIn> : OptionalArgument<aclTensor, std::optional<at::Tensor>> {};
template <>
struct Argument<OptionalOut> : OptionalArgument<aclTensor, std::optional<at::Tensor>> {};
template <>
struct Argument<Tensors> : OptionalArgument<aclTensorList, std::vector<at::Tensor>> {};
template <>
struct Argument<Number> : RequiredArgument<aclScalar, at::Scalar> {};
template <>
struct Argument<OptionalNumber> : OptionalArgument<aclScalar, std::optional<at::Scalar>> {};
template <>
struct Argument<Numbers> : OptionalArgument<aclScalarList, std::vector<at::Scalar>> {};
template <>
struct Argument<Ints> : OptionalArgument<aclIntArray, std::vector<int64_t>> {};
template <>
struct Argument<Bools> : RequiredArgument<aclBoolArray, std::vector<bool>> {};

template <>
struct Argument<Operand> {
  using Abi = const aclScalar*;
  using Kept = WrappedNumber;
  static Kept keep(Abi handle) {
    Kept number{c10::scalar_to_tensor(required(handle).value)};
    number.tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    return number;
  }
};

template <>
struct Argument<at::ScalarType> {
  using Abi = aclDataType;
  using Kept = at::ScalarType;
  static Kept keep(Abi type) {
    const auto known = scalar_type(type);
    TORCH_CHECK(known.has_value(), "hostnpu has no data type ", static_cast<int>(type), " (aclDataType)");
    return *known;
  }
};

template <>
struct Argument<Text> {
  using Abi = const char*;
  using Kept = std::string;
  static Kept keep(Abi text) { return text != nullptr ? text : ""; }
};

// The C types as CANN's headers spell them, without const.
template <class Abi>
inline constexpr const char* kCType = nullptr;
template <>
inline constexpr const char* kCType<const aclTensor*> = "aclTensor*";
template <>
inline constexpr const char* kCType<const aclScalar*> = "aclScalar*";
template <>
inline constexpr const char* kCType<const aclTensorList*> = "aclTensorList*";
template <>
inline constexpr const char* kCType<const aclScalarList*> = "aclScalarList*";
template <>
inline constexpr const char* kCType<const aclIntArray*> = "aclIntArray*";
template <>
inline constexpr const char* kCType<const aclBoolArray*> = "aclBoolArray*";
template <>
inline constexpr const char* kCType<const char*> = "char*";
template <>
inline constexpr const char* kCType<aclDataType> = "aclDataType";
template <>
inline constexpr const char* kCType<int64_t> = "int64_t";
template <>
inline constexpr const char* kCType<uint64_t> = "uint64_t";
template <>
inline constexpr const char* kCType<int32_t> = "int";
template <>
inline constexpr const char* kCType<int8_t> = "int8_t";
template <>
inline constexpr const char* kCType<bool> = "bool";
template <>
inline constexpr const char* kCType<float> = "float";
template <>
inline constexpr const char* kCType<double> = "double";

// Fails if a run has given an output another shape than the caller's. Other kinds of arguments have nothing to check.
void check_shape(const Output& output);
template <class Kept>
void check_shape(const Kept& /*argument*/) {}

// Text of a kept argument, for errors: "Float[4, 8]", "3", "null".
std::string describe(const at::Tensor& value);
std::string describe(const std::optional<at::Tensor>& value);
std::string describe(const std::vector<at::Tensor>& value);
std::string describe(const at::Scalar& value);
std::string describe(const std::optional<at::Scalar>& value);
std::string describe(const std::vector<at::Scalar>& value);
std::string describe(const WrappedNumber& value);
std::string describe(const Output& value);
inline std::string describe(const ShrinkingOutput& value) { return describe(value.tensor); }
std::string describe(const std::vector<int64_t>& value);
std::string describe(const std::vector<bool>& value);
std::string describe(const std::string& value);
std::string describe(at::ScalarType value);
std::string describe(double value);
std::string describe(int64_t value);
inline std::string describe(uint64_t value) { return describe(static_cast<int64_t>(value)); }
inline std::string describe(int32_t value) { return describe(static_cast<int64_t>(value)); }
inline std::string describe(int8_t value) { return describe(static_cast<int64_t>(value)); }
inline std::string describe(bool value) { return value ? "true" : "false"; }
inline std::string describe(float value) { return describe(static_cast<double>(value)); }

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// Error texts about arguments.
#include "opapi/arguments.h"

#include <sstream>

namespace hostnpu {
namespace {

const char* tag_name(ObjectTag tag) {
  switch (tag) {
    case ObjectTag::kTensor:
      return "aclTensor";
    case ObjectTag::kScalar:
      return "aclScalar";
    case ObjectTag::kIntArray:
      return "aclIntArray";
    case ObjectTag::kFloatArray:
      return "aclFloatArray";
    case ObjectTag::kBoolArray:
      return "aclBoolArray";
    case ObjectTag::kTensorList:
      return "aclTensorList";
    case ObjectTag::kScalarList:
      return "aclScalarList";
  }
  return nullptr;
}

template <class Items>
std::string list_of(const Items& items) {
  std::string text = "(";
  const char* separator = "";
  for (const auto& item : items) {
    text += separator + describe(item);
    separator = ", ";
  }
  return text + ")";
}

}  // namespace

void fail_wrong_object(const void* handle, ObjectTag expected) {
  const auto address = reinterpret_cast<uintptr_t>(handle);
  constexpr uintptr_t kLowestAddress = 0x10000;
  const char* found = nullptr;
  if (address >= kLowestAddress && address % alignof(ObjectTag) == 0) {
    found = tag_name(*static_cast<const ObjectTag*>(handle));
  }
  std::ostringstream value;
  if (found != nullptr) {
    value << found;
  } else {
    value << "the value 0x" << std::hex << address;
  }
  TORCH_CHECK(false, "the caller's parameters are not those of hostnpu: expected an ", tag_name(expected), ", got ",
              value.str());
}

void check_shape(const Output& output) {
  TORCH_CHECK(output.tensor.sizes() == at::IntArrayRef(output.sizes), "the result has shape ", output.tensor.sizes(),
              ", the output ", at::IntArrayRef(output.sizes));
}

std::string describe(const at::Tensor& value) {
  if (!value.defined()) {
    return "null";
  }
  std::ostringstream text;
  text << c10::toString(value.scalar_type()) << value.sizes();
  if (!value.is_contiguous()) {
    text << " with strides " << value.strides();
  }
  return text.str();
}

std::string describe(const std::optional<at::Tensor>& value) { return value ? describe(*value) : "null"; }
std::string describe(const std::vector<at::Tensor>& value) { return list_of(value); }

std::string describe(const at::Scalar& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string describe(const std::optional<at::Scalar>& value) { return value ? describe(*value) : "null"; }
std::string describe(const std::vector<at::Scalar>& value) { return list_of(value); }
std::string describe(const WrappedNumber& value) { return describe(value.tensor.item()); }
std::string describe(const Output& value) {
  std::ostringstream text;
  text << c10::toString(value.tensor.scalar_type()) << at::IntArrayRef(value.sizes);
  return text.str();
}

std::string describe(const std::vector<int64_t>& value) { return list_of(value); }

std::string describe(const std::vector<bool>& value) {
  std::string text = "(";
  for (const bool item : value) {
    text += item ? '1' : '0';
  }
  return text + ")";
}

std::string describe(const std::string& value) { return '"' + value + '"'; }
std::string describe(at::ScalarType value) { return c10::toString(value); }
std::string describe(int64_t value) { return std::to_string(value); }

std::string describe(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace hostnpu

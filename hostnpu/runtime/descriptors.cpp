// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors, buffers and attributes for CANN's older operator interface (aclop). torch_npu makes them before it
// finds out whether an operator exists; the operators themselves are not played, and running one is an error that names it.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "acl/acl_op_compiler.h"
#include "error.h"

struct aclTensorDesc {
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims;
  std::string name;
};

struct aclDataBuffer {
  void* address = nullptr;
  size_t size = 0;
};

struct aclopAttr {};  // never read: no operator that takes one can run

namespace hostnpu {
namespace {

aclError check_attribute(const aclopAttr* attributes, const char* name, const char* call) {
  return attributes != nullptr && name != nullptr
             ? ACL_SUCCESS
             : fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": neither the attributes nor the name may be null");
}

template <class Object>
aclError check_object(const Object* object, const char* call) {
  return object != nullptr ? ACL_SUCCESS
                           : fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": the description must not be null");
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclTensorDesc* aclCreateTensorDesc(aclDataType type, int count, const int64_t* dims, aclFormat format) {
  if (count < 0 || (count > 0 && dims == nullptr)) {
    fail(ACL_ERROR_INVALID_PARAM, "aclCreateTensorDesc: numDims must not be negative, nor dims null");
    return nullptr;
  }
  auto* description = new aclTensorDesc{type, format, {}, {}};
  if (count > 0) {
    description->dims.assign(dims, dims + count);
  }
  return description;
}

void aclDestroyTensorDesc(const aclTensorDesc* description) { delete description; }

aclDataType aclGetTensorDescType(const aclTensorDesc* description) {
  return description == nullptr ? ACL_DT_UNDEFINED : description->type;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* description) {
  return description == nullptr ? ACL_FORMAT_UNDEFINED : description->format;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* description) {
  return description == nullptr ? 0 : description->dims.size();
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* description, size_t index, int64_t* size) {
  if (description == nullptr || size == nullptr || index >= description->dims.size()) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclGetTensorDescDimV2: there is no dimension " + std::to_string(index));
  }
  *size = description->dims[index];
  return ACL_SUCCESS;
}

void aclSetTensorDescName(aclTensorDesc* description, const char* name) {
  if (description != nullptr && name != nullptr) {
    description->name = name;
  }
}

aclError aclSetTensorFormat(aclTensorDesc* description, aclFormat format) {
  if (const aclError code = check_object(description, "aclSetTensorFormat"); code != ACL_SUCCESS) {
    return code;
  }
  description->format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorShape(aclTensorDesc* description, int count, const int64_t* dims) {
  if (description == nullptr || count < 0 || (count > 0 && dims == nullptr)) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclSetTensorShape: numDims must not be negative, nor a pointer null");
  }
  description->dims.assign(dims, dims + count);
  return ACL_SUCCESS;
}

aclError aclSetTensorPlaceMent(aclTensorDesc* description, aclMemType) {
  return check_object(description, "aclSetTensorPlaceMent");
}

aclDataBuffer* aclCreateDataBuffer(void* address, size_t size) { return new aclDataBuffer{address, size}; }

aclError aclDestroyDataBuffer(const aclDataBuffer* buffer) {
  delete buffer;
  return ACL_SUCCESS;
}

aclopAttr* aclopCreateAttr() { return new aclopAttr; }

void aclopDestroyAttr(const aclopAttr* attributes) { delete attributes; }

aclError aclopSetAttrBool(aclopAttr* attributes, const char* name, uint8_t) {
  return check_attribute(attributes, name, "aclopSetAttrBool");
}

aclError aclopSetAttrInt(aclopAttr* attributes, const char* name, int64_t) {
  return check_attribute(attributes, name, "aclopSetAttrInt");
}

aclError aclopSetAttrFloat(aclopAttr* attributes, const char* name, float) {
  return check_attribute(attributes, name, "aclopSetAttrFloat");
}

aclError aclopSetAttrString(aclopAttr* attributes, const char* name, const char*) {
  return check_attribute(attributes, name, "aclopSetAttrString");
}

aclError aclopSetAttrDataType(aclopAttr* attributes, const char* name, aclDataType) {
  return check_attribute(attributes, name, "aclopSetAttrDataType");
}

aclError aclopSetAttrListBool(aclopAttr* attributes, const char* name, int, const uint8_t*) {
  return check_attribute(attributes, name, "aclopSetAttrListBool");
}

aclError aclopSetAttrListInt(aclopAttr* attributes, const char* name, int, const int64_t*) {
  return check_attribute(attributes, name, "aclopSetAttrListInt");
}

aclError aclopSetAttrListFloat(aclopAttr* attributes, const char* name, int, const float*) {
  return check_attribute(attributes, name, "aclopSetAttrListFloat");
}

aclError aclopSetAttrListListInt(aclopAttr* attributes, const char* name, int, const int*, const int64_t* const[]) {
  return check_attribute(attributes, name, "aclopSetAttrListListInt");
}

aclError aclopCompileAndExecute(const char* type, int, const aclTensorDesc* const[], const aclDataBuffer* const[], int,
                                const aclTensorDesc* const[], aclDataBuffer* const[], const aclopAttr*, aclopEngineType,
                                aclopCompileType, const char*, aclrtStream) {
  const std::string operator_type = type == nullptr ? "" : type;
  std::fprintf(stderr,
               "[hostnpu] operator '%s' of CANN's older interface is not played; docs/add-hostnpu-operator.md tells how to add "
               "an operator\n",
               operator_type.c_str());
  return fail(ACL_ERROR_OP_NOT_FOUND,
              "aclopCompileAndExecute: operator '" + operator_type + "' of CANN's older interface is not played");
}

}  // extern "C"

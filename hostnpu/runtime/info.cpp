// SPDX-License-Identifier: Apache-2.0
// What the played device and CANN say of themselves.
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "chip.h"
#include "config.h"
#include "error.h"

namespace hostnpu {
namespace {

aclError check_output(const void* output, const char* call) {
  return output != nullptr ? ACL_SUCCESS : fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": the output must not be null");
}

aclError check_device(int64_t device, const char* call) {
  if (device >= 0 && device < config().devices) {
    return ACL_SUCCESS;
  }
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, std::string(call) + ": there are devices 0 to " +
                                                 std::to_string(config().devices - 1) + ", got " + std::to_string(device));
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

const char* aclrtGetSocName() { return config().soc.c_str(); }

// Declared deprecated; torch_npu still calls it.
aclError aclsysGetCANNVersion(aclCANNPackageName, aclCANNPackageVersion* version) {
  if (const aclError code = check_output(version, "aclsysGetCANNVersion"); code != ACL_SUCCESS) {
    return code;
  }
  *version = {};
  const Version& cann = config().cann;
  std::snprintf(version->version, sizeof version->version, "%s", config().cann_version.c_str());
  std::snprintf(version->majorVersion, sizeof version->majorVersion, "%d", cann.major);
  std::snprintf(version->minorVersion, sizeof version->minorVersion, "%d", cann.minor);
  std::snprintf(version->releaseVersion, sizeof version->releaseVersion, "%d", cann.patch);
  return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char*, char* version) {
  if (const aclError code = check_output(version, "aclsysGetVersionStr"); code != ACL_SUCCESS) {
    return code;
  }
  // The caller's buffer has ACL_PKG_VERSION_MAX_SIZE bytes by contract.
  std::snprintf(version, ACL_PKG_VERSION_MAX_SIZE, "%s", config().cann_version.c_str());
  return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr attribute, int32_t* value) {
  if (const aclError code = check_output(value, "aclGetCannAttribute"); code != ACL_SUCCESS) {
    return code;
  }
  *value = attribute == ACL_CANN_ATTR_INF_NAN || attribute == ACL_CANN_ATTR_BF16 ? 1 : 0;
  return ACL_SUCCESS;
}

aclError aclGetCannAttributeList(const aclCannAttr** list, size_t* count) {
  static constexpr std::array<aclCannAttr, 2> kAttributes = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16};
  if (list == nullptr || count == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttributeList: neither output may be null");
  }
  *list = kAttributes.data();
  *count = kAttributes.size();
  return ACL_SUCCESS;
}

aclError aclGetDeviceCapability(uint32_t device, aclDeviceInfo info, int64_t* value) {
  if (const aclError code = check_device(device, "aclGetDeviceCapability"); code != ACL_SUCCESS) {
    return code;
  }
  if (const aclError code = check_output(value, "aclGetDeviceCapability"); code != ACL_SUCCESS) {
    return code;
  }
  switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
      *value = chip().cube_cores;
      return ACL_SUCCESS;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      *value = chip().vector_cores;
      return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE:
      *value = chip().l2_bytes;
      return ACL_SUCCESS;
    default:
      return fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: unknown deviceInfo " + std::to_string(info));
  }
}

aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t* value) {
  if (const aclError code = check_device(device, "aclrtGetDeviceInfo"); code != ACL_SUCCESS) {
    return code;
  }
  if (const aclError code = check_output(value, "aclrtGetDeviceInfo"); code != ACL_SUCCESS) {
    return code;
  }
  switch (attribute) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
      *value = 6;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      *value = chip().cube_cores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      *value = chip().vector_cores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      *value = static_cast<int64_t>(config().memory_bytes);
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      *value = chip().l2_bytes;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_IS_VIRTUAL:
      *value = 0;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      *value = device;
      return ACL_SUCCESS;
    default:
      return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "aclrtGetDeviceInfo: hostnpu does not know attribute " + std::to_string(attribute));
  }
}

}  // extern "C"

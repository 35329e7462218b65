// SPDX-License-Identifier: Apache-2.0
// Limits of cores: of a device, of a stream, and of what the current thread launches. A stream's limit is for the threads that use
// it (aclrtUseStreamResInCurrentThread); it may be higher than its device's, never higher than what the chip has.
#include <memory>
#include <mutex>
#include <string>

#include "chip.h"
#include "config.h"
#include "context.h"
#include "core_limits.h"
#include "error.h"
#include "runtime.h"
#include "stream.h"

namespace hostnpu {
namespace {

// The stream whose limits this thread uses; gone streams count as none.
std::weak_ptr<Stream>& thread_stream() {
  static thread_local std::weak_ptr<Stream> stream;
  return stream;
}

std::uint32_t cores_of_chip(std::size_t kind) {
  return static_cast<std::uint32_t>(kind == ACL_RT_DEV_RES_CUBE_CORE ? chip().cube_cores : chip().vector_cores);
}

aclError check_kind(aclrtDevResLimitType type, const char* call) {
  return static_cast<std::size_t>(type) < kCoreKinds
             ? ACL_SUCCESS
             : fail(ACL_ERROR_RT_PARAM_INVALID,
                    std::string(call) + ": type must be 0 (cube cores) or 1 (vector cores), got " + std::to_string(type));
}

aclError check_device(int device, const char* call) {
  return device >= 0 && device < config().devices
             ? ACL_SUCCESS
             : fail(ACL_ERROR_RT_INVALID_DEVICEID, std::string(call) + ": there are devices 0 to " +
                                                       std::to_string(config().devices - 1) + ", got " +
                                                       std::to_string(device));
}

aclError check_output(const void* output, const char* call) {
  return output != nullptr ? ACL_SUCCESS
                           : fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the output must not be null");
}

aclError check_value(aclrtDevResLimitType type, std::uint32_t value, const char* call) {
  const std::uint32_t most = cores_of_chip(static_cast<std::size_t>(type));
  return value <= most ? ACL_SUCCESS
                       : fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the chip has " + std::to_string(most) +
                                                              " cores of type " + std::to_string(type) + ", got " +
                                                              std::to_string(value));
}

// Under Runtime::mutex, as all that touches limits.
CoreLimits& device_limits(int device) {
  Runtime& state = runtime();
  state.device_core_limits.resize(static_cast<std::size_t>(config().devices));
  return state.device_core_limits[static_cast<std::size_t>(device)];
}

std::uint32_t device_cores(int device, std::size_t kind) { return device_limits(device)[kind].value_or(cores_of_chip(kind)); }

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtSetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t value) {
  constexpr const char* kCall = "aclrtSetDeviceResLimit";
  for (const aclError code : {check_kind(type, kCall), check_device(device, kCall), check_value(type, value, kCall)}) {
    if (code != ACL_SUCCESS) {
      return code;
    }
  }
  const std::lock_guard lock(runtime().mutex);
  device_limits(device)[static_cast<std::size_t>(type)] = value;
  return ACL_SUCCESS;
}

aclError aclrtResetDeviceResLimit(int32_t device) {
  if (const aclError code = check_device(device, "aclrtResetDeviceResLimit"); code != ACL_SUCCESS) {
    return code;
  }
  const std::lock_guard lock(runtime().mutex);
  device_limits(device) = {};
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t* value) {
  constexpr const char* kCall = "aclrtGetDeviceResLimit";
  for (const aclError code : {check_kind(type, kCall), check_output(value, kCall), check_device(device, kCall)}) {
    if (code != ACL_SUCCESS) {
      return code;
    }
  }
  const std::lock_guard lock(runtime().mutex);
  *value = device_cores(device, static_cast<std::size_t>(type));
  return ACL_SUCCESS;
}

aclError aclrtSetStreamResLimit(aclrtStream handle, aclrtDevResLimitType type, uint32_t value) {
  constexpr const char* kCall = "aclrtSetStreamResLimit";
  if (const aclError code = check_kind(type, kCall); code != ACL_SUCCESS) {
    return code;
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, kCall, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (const aclError code = check_value(type, value, kCall); code != ACL_SUCCESS) {
    return code;
  }
  stream->core_limits[static_cast<std::size_t>(type)] = value;
  return ACL_SUCCESS;
}

aclError aclrtResetStreamResLimit(aclrtStream handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, "aclrtResetStreamResLimit", stream); code != ACL_SUCCESS) {
    return code;
  }
  stream->core_limits = {};
  return ACL_SUCCESS;
}

aclError aclrtGetStreamResLimit(aclrtStream handle, aclrtDevResLimitType type, uint32_t* value) {
  constexpr const char* kCall = "aclrtGetStreamResLimit";
  for (const aclError code : {check_kind(type, kCall), check_output(value, kCall)}) {
    if (code != ACL_SUCCESS) {
      return code;
    }
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, kCall, stream); code != ACL_SUCCESS) {
    return code;
  }
  const auto kind = static_cast<std::size_t>(type);
  *value = stream->core_limits[kind].value_or(device_cores(stream->context->device, kind));
  return ACL_SUCCESS;
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, "aclrtUseStreamResInCurrentThread", stream); code != ACL_SUCCESS) {
    return code;
  }
  thread_stream() = stream;
  return ACL_SUCCESS;
}

// Of another stream than the one in use: nothing happens, and it is no error.
aclError aclrtUnuseStreamResInCurrentThread(aclrtStream handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, "aclrtUnuseStreamResInCurrentThread", stream); code != ACL_SUCCESS) {
    return code;
  }
  if (thread_stream().lock() == stream) {
    thread_stream().reset();
  }
  return ACL_SUCCESS;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  constexpr const char* kCall = "aclrtGetResInCurrentThread";
  for (const aclError code : {check_kind(type, kCall), check_output(value, kCall)}) {
    if (code != ACL_SUCCESS) {
      return code;
    }
  }
  const std::lock_guard lock(runtime().mutex);
  const auto kind = static_cast<std::size_t>(type);
  if (const auto stream = thread_stream().lock(); stream != nullptr && stream->core_limits[kind].has_value()) {
    *value = *stream->core_limits[kind];
    return ACL_SUCCESS;
  }
  const auto context = current_context_locked(kCall);
  if (context == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  *value = device_cores(context->device, kind);
  return ACL_SUCCESS;
}

}  // extern "C"

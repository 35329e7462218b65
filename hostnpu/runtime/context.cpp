// SPDX-License-Identifier: Apache-2.0
// Contexts and devices: which one a thread uses, and the calls that change it.
#include "context.h"

#include <string>

#include "capture.h"
#include "config.h"
#include "error.h"
#include "memory.h"
#include "runtime.h"
#include "stream.h"

namespace hostnpu {
namespace {

std::shared_ptr<Context>& thread_context() {
  static thread_local std::shared_ptr<Context> context;
  return context;
}

aclError check_device(int device, const char* call) {
  const int count = config().devices;
  if (device >= 0 && device < count) {
    return ACL_SUCCESS;
  }
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, std::string(call) + ": there are devices 0 to " + std::to_string(count - 1) +
                                                 ", got " + std::to_string(device) +
                                                 "; `msprobe hostnpu run --devices N` plays more");
}

std::shared_ptr<Context> new_context(int device) {
  Runtime& state = runtime();
  auto context = std::make_shared<Context>(state.next_context_id++, device);
  state.contexts.add(context);
  return context;
}

const std::shared_ptr<Context>& primary_context(int device) {
  Runtime& state = runtime();
  state.primary_contexts.resize(static_cast<std::size_t>(config().devices));
  auto& primary = state.primary_contexts[static_cast<std::size_t>(device)];
  if (primary == nullptr) {
    primary = new_context(device);
  }
  return primary;
}

// Ends the captures of a context and takes its streams out of the table. The caller closes them without the lock.
std::vector<std::shared_ptr<Stream>> take_streams(const Context& context) {
  Runtime& state = runtime();
  const auto open_captures = state.captures;
  for (const auto& capture : open_captures) {
    if (capture->graph->context.get() == &context) {
      capture->close(false);
    }
  }
  std::vector<std::shared_ptr<Stream>> taken;
  for (auto& stream : state.streams.all()) {
    if (stream->context.get() == &context) {
      state.streams.remove(stream.get());
      taken.push_back(std::move(stream));
    }
  }
  return taken;
}

aclError close_context(const std::shared_ptr<Context>& context, bool discard) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(runtime().mutex);
    streams = take_streams(*context);
    context->default_stream.reset();
  }
  aclError result = ACL_SUCCESS;
  for (const auto& stream : streams) {
    if (!discard) {
      if (const aclError code = stream->synchronize(-1); code != ACL_SUCCESS) {
        result = code;
      }
    }
    stream->close(discard);
  }
  return result;
}

}  // namespace

std::shared_ptr<Context> current_context_locked(const char* call) {
  std::shared_ptr<Context>& context = thread_context();
  if (context == nullptr && runtime().default_device >= 0) {
    context = primary_context(runtime().default_device);
    ++context->set_count;
  }
  if (context == nullptr) {
    fail(ACL_ERROR_RT_CONTEXT_NULL,
         std::string(call) + ": this thread has no current context; call aclrtSetDevice or aclrtSetCurrentContext first");
  }
  return context;
}

std::shared_ptr<Context> current_context(const char* call) {
  if (thread_context() != nullptr) {
    return thread_context();
  }
  const std::lock_guard lock(runtime().mutex);
  return current_context_locked(call);
}

Runtime& runtime() {
  static Runtime* const state = new Runtime;
  return *state;
}

}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtGetDeviceCount(uint32_t* count) {
  if (count == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: count must not be null");
  }
  *count = static_cast<uint32_t>(config().devices);
  return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t device) {
  if (const aclError code = check_device(device, "aclrtSetDevice"); code != ACL_SUCCESS) {
    return code;
  }
  const std::lock_guard lock(runtime().mutex);
  const auto& primary = primary_context(device);
  ++primary->set_count;
  thread_context() = primary;
  return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t* device) {
  if (device == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: deviceId must not be null");
  }
  // Asking does not open the default device; torch_npu tells "none yet" by 107002.
  const auto& context = thread_context();
  if (context == nullptr) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetDevice: no device is set on this thread; call aclrtSetDevice first");
  }
  *device = context->device;
  return ACL_SUCCESS;
}

static aclError reset_device(int32_t device, bool force) {
  std::shared_ptr<Context> primary;
  {
    const std::lock_guard lock(runtime().mutex);
    primary = primary_context(device);
    primary->set_count = force ? 0 : std::max(0, primary->set_count - 1);
    if (primary->set_count > 0) {
      return ACL_SUCCESS;
    }
    runtime().primary_contexts[static_cast<std::size_t>(device)].reset();
    runtime().contexts.remove(primary.get());
  }
  if (thread_context() == primary) {
    thread_context().reset();
  }
  return close_context(primary, force);
}

aclError aclrtResetDevice(int32_t device) {
  const aclError code = check_device(device, "aclrtResetDevice");
  return code != ACL_SUCCESS ? code : reset_device(device, false);
}

aclError aclrtResetDeviceForce(int32_t device) {
  const aclError code = check_device(device, "aclrtResetDeviceForce");
  return code != ACL_SUCCESS ? code : reset_device(device, true);
}

aclError aclrtCreateContext(aclrtContext* context, int32_t device) {
  if (context == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: context must not be null");
  }
  if (const aclError code = check_device(device, "aclrtCreateContext"); code != ACL_SUCCESS) {
    return code;
  }
  const std::lock_guard lock(runtime().mutex);
  thread_context() = new_context(device);
  *context = thread_context().get();
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext handle) {
  std::shared_ptr<Context> context;
  {
    const std::lock_guard lock(runtime().mutex);
    context = runtime().contexts.find(handle);
    for (const auto& primary : runtime().primary_contexts) {
      if (context != nullptr && context == primary) {
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyContext: a device's primary context goes with aclrtResetDevice");
      }
    }
    if (context == nullptr) {
      return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtDestroyContext: the context must be alive, got an unknown handle");
    }
    runtime().contexts.remove(handle);
  }
  if (thread_context() == context) {
    thread_context().reset();
  }
  return close_context(context, false);
}

aclError aclrtSetCurrentContext(aclrtContext handle) {
  const std::lock_guard lock(runtime().mutex);
  auto context = runtime().contexts.find(handle);
  if (context == nullptr) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetCurrentContext: the context must be alive, got an unknown handle");
  }
  thread_context() = std::move(context);
  return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (context == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: context must not be null");
  }
  const auto current = current_context("aclrtGetCurrentContext");
  if (current == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  *context = current.get();
  return ACL_SUCCESS;
}

aclError aclrtGetPrimaryCtxState(int32_t device, uint32_t* flags, int32_t* active) {
  if (const aclError code = check_device(device, "aclrtGetPrimaryCtxState"); code != ACL_SUCCESS) {
    return code;
  }
  if (active == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetPrimaryCtxState: active must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  const auto& primaries = runtime().primary_contexts;
  const auto index = static_cast<std::size_t>(device);
  *active = index < primaries.size() && primaries[index] != nullptr ? 1 : 0;
  if (flags != nullptr) {
    *flags = 0;
  }
  return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t* can_access, int32_t device, int32_t peer) {
  if (can_access == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceCanAccessPeer: canAccessPeer must not be null");
  }
  for (const int32_t asked : {device, peer}) {
    if (const aclError code = check_device(asked, "aclrtDeviceCanAccessPeer"); code != ACL_SUCCESS) {
      return code;
    }
  }
  *can_access = device != peer ? 1 : 0;
  return ACL_SUCCESS;
}

// All devices share the host's memory: a peer is always within reach.
aclError aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t) { return check_device(peer, "aclrtDeviceEnablePeerAccess"); }

aclError aclrtDeviceDisablePeerAccess(int32_t peer) { return check_device(peer, "aclrtDeviceDisablePeerAccess"); }

}  // extern "C"

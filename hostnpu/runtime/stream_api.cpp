// SPDX-License-Identifier: Apache-2.0
// The C calls on streams: create, find, synchronise, query, destroy.
#include <string>

#include "capture.h"
#include "context.h"
#include "error.h"
#include "runtime.h"
#include "stream.h"

namespace hostnpu {
namespace {

// What the chips that torch_npu knows have: a device's streams in all processes together, default ones included. Those of other
// processes are not seen here.
constexpr std::size_t kStreamsPerDevice = 1984;

aclError new_stream(const std::shared_ptr<Context>& context, bool is_default, bool is_persistent, const char* call,
                    std::shared_ptr<Stream>& stream) {
  Runtime& state = runtime();
  std::size_t alive = 0;
  for (const auto& other : state.streams.all()) {
    alive += other->context->device == context->device ? 1U : 0U;
  }
  if (alive >= kStreamsPerDevice) {
    return fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, std::string("EE1023: ") + call + ": device " +
                                                     std::to_string(context->device) + " has " + std::to_string(alive) +
                                                     " streams, which is all it can have; destroy some first");
  }
  stream = std::make_shared<Stream>(context, state.next_stream_id++, is_default, is_persistent);
  state.streams.add(stream);
  return ACL_SUCCESS;
}

aclError create_stream(aclrtStream* handle, bool is_persistent, const char* call) {
  if (handle == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": stream must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  const auto context = current_context_locked(call);
  if (context == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  std::shared_ptr<Stream> stream;
  const aclError code = new_stream(context, false, is_persistent, call, stream);
  if (code == ACL_SUCCESS) {
    *handle = stream.get();
  }
  return code;
}

// Real CANN refuses these calls on a capturing stream in every mode; the capture itself goes on.
aclError refuse_captured(const Stream& stream, const char* call) {
  return fail(ACL_ERROR_RT_STREAM_CAPTURED, std::string(call) + ": stream " + std::to_string(stream.id) +
                                                " is being captured; call it before the capture begins or after it ends");
}

aclError find_uncaptured(aclrtStream handle, const char* call, std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(runtime().mutex);
  if (const aclError code = find_any_stream(handle, call, stream); code != ACL_SUCCESS) {
    return code;
  }
  return stream->capture == nullptr ? ACL_SUCCESS : refuse_captured(*stream, call);
}

aclError synchronize_stream(aclrtStream handle, int timeout_ms, const char* call) {
  std::shared_ptr<Stream> stream;
  const aclError code = find_uncaptured(handle, call, stream);
  return code != ACL_SUCCESS ? code : stream->synchronize(timeout_ms);
}

aclError destroy_stream(aclrtStream handle, bool discard, const char* call) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(runtime().mutex);
    if (handle == nullptr) {
      return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": stream must not be null");
    }
    if (const aclError code = find_stream(handle, call, stream); code != ACL_SUCCESS) {
      return code;
    }
    if (stream->is_default) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the default stream goes with its context");
    }
    if (stream->capture != nullptr) {
      return refuse_captured(*stream, call);
    }
    if (stream->model != nullptr) {
      return refuse_bound(*stream, call);
    }
    runtime().streams.remove(handle);
  }
  stream->close(discard);
  return ACL_SUCCESS;
}

aclError synchronize_device(int timeout_ms, const char* call) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(runtime().mutex);
    const auto context = current_context_locked(call);
    if (context == nullptr) {
      return ACL_ERROR_RT_CONTEXT_NULL;
    }
    for (auto& stream : runtime().streams.all()) {
      if (stream->context != context) {
        continue;
      }
      if (stream->capture != nullptr) {
        return refuse_captured(*stream, call);
      }
      streams.push_back(std::move(stream));
    }
  }
  aclError result = ACL_SUCCESS;
  for (const auto& stream : streams) {
    if (const aclError code = stream->synchronize(timeout_ms); code != ACL_SUCCESS) {
      result = code;
    }
  }
  return result;
}

}  // namespace

aclError find_any_stream(aclrtStream handle, const char* call, std::shared_ptr<Stream>& stream) {
  if (handle != nullptr) {
    stream = runtime().streams.find(handle);
    return stream != nullptr
               ? ACL_SUCCESS
               : fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the stream must be alive, got an unknown handle");
  }
  const auto context = current_context_locked(call);
  if (context == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  if (context->default_stream == nullptr) {
    if (const aclError code = new_stream(context, true, false, call, context->default_stream); code != ACL_SUCCESS) {
      return code;
    }
  }
  stream = context->default_stream;
  return ACL_SUCCESS;
}

aclError find_stream(aclrtStream handle, const char* call, std::shared_ptr<Stream>& stream) {
  std::shared_ptr<Stream> found;
  if (const aclError code = find_any_stream(handle, call, found); code != ACL_SUCCESS) {
    return code;
  }
  const auto context = current_context_locked(call);
  if (context == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  if (found->context != context) {
    return fail(ACL_ERROR_RT_STREAM_CONTEXT, std::string(call) + ": stream " + std::to_string(found->id) +
                                                 " belongs to a context of device " + std::to_string(found->context->device) +
                                                 ", the current one to device " + std::to_string(context->device) +
                                                 "; set its device first");
  }
  stream = std::move(found);
  return ACL_SUCCESS;
}

}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) { return create_stream(stream, false, "aclrtCreateStream"); }

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t flag) {
  return create_stream(stream, (flag & ACL_STREAM_PERSISTENT) != 0, "aclrtCreateStreamWithConfig");
}

aclError aclrtDestroyStream(aclrtStream stream) { return destroy_stream(stream, false, "aclrtDestroyStream"); }

aclError aclrtDestroyStreamForce(aclrtStream stream) { return destroy_stream(stream, true, "aclrtDestroyStreamForce"); }

aclError aclrtSynchronizeStream(aclrtStream stream) { return synchronize_stream(stream, -1, "aclrtSynchronizeStream"); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout_ms) {
  return synchronize_stream(stream, timeout_ms, "aclrtSynchronizeStreamWithTimeout");
}

aclError aclrtSynchronizeDevice() { return synchronize_device(-1, "aclrtSynchronizeDevice"); }

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout_ms) {
  return synchronize_device(timeout_ms, "aclrtSynchronizeDeviceWithTimeout");
}

aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus* status) {
  if (status == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status must not be null");
  }
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_uncaptured(handle, "aclrtStreamQuery", stream); code != ACL_SUCCESS) {
    return code;
  }
  *status = stream->idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream handle, int32_t* id) {
  if (id == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId: streamId must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, "aclrtStreamGetId", stream); code != ACL_SUCCESS) {
    return code;
  }
  *id = stream->id;
  return ACL_SUCCESS;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* handle) {
  if (handle == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetCurrentDefaultStream: stream must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(nullptr, "aclrtCtxGetCurrentDefaultStream", stream); code != ACL_SUCCESS) {
    return code;
  }
  *handle = stream.get();
  return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream handle, uint64_t mode) {
  if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtSetStreamFailureMode: mode must be 0 (go on) or 1 (stop), got " + std::to_string(mode));
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, "aclrtSetStreamFailureMode", stream); code != ACL_SUCCESS) {
    return code;
  }
  stream->set_stop_on_failure(mode == ACL_STOP_ON_FAILURE);
  return ACL_SUCCESS;
}

aclError aclrtSetStreamAttribute(aclrtStream handle, aclrtStreamAttr attribute, aclrtStreamAttrValue* value) {
  if (value == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamAttribute: value must not be null");
  }
  if (attribute == ACL_STREAM_ATTR_FAILURE_MODE) {
    return aclrtSetStreamFailureMode(handle, value->failureMode);
  }
  // The others steer overflow checks, tags for profiling and priorities: nothing here depends on them.
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  return find_any_stream(handle, "aclrtSetStreamAttribute", stream);
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// Copies and fills, synchronous and in a stream's order, with what captures forbid.
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "capture.h"
#include "config.h"
#include "context.h"
#include "error.h"
#include "memory.h"
#include "runtime.h"
#include "submission.h"

namespace hostnpu {
namespace {

// CANN 9.1 gave the refusals of pageable memory codes of their own.
constexpr Version kPageableCodes{9, 1, 0};

aclError check_range(const void* to, std::size_t room, std::size_t count, const void* from, const char* call) {
  if (to == nullptr || from == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": neither address may be null");
  }
  if (count > room) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": count must not exceed the room at the destination, got " +
                                                std::to_string(count) + " of " + std::to_string(room) + " bytes");
  }
  return ACL_SUCCESS;
}

// What a call that copies at once needs: a context, and no capture that forbids it.
aclError check_synchronous(const char* call) {
  const std::lock_guard lock(runtime().mutex);
  const auto context = current_context_locked(call);
  return context == nullptr ? ACL_ERROR_RT_CONTEXT_NULL : check_capture_mode(*context, call);
}

aclError submit_copy(aclrtStream handle, const char* name, Task task) {
  return submit(handle, name, TaskKind::kCopy, std::move(task));
}

// Real CANN turns an asynchronous copy of pageable memory into a stream synchronisation and a synchronous copy.
aclError copy_pageable(void* to, const void* from, std::size_t count, aclrtStream handle, const char* call) {
  const bool own_codes = config().cann >= kPageableCodes;
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(runtime().mutex);
    if (const aclError code = find_stream(handle, call, stream); code != ACL_SUCCESS) {
      return code;
    }
    if (stream->capture != nullptr) {
      return fail(own_codes ? ACL_ERROR_RT_PARAM_INVALID : ACL_ERROR_RT_STREAM_CAPTURED,
                  std::string(call) + ": pageable host memory cannot be copied in a capture; take it from aclrtMallocHost");
    }
  }
  if (const aclError code = stream->synchronize(-1); code != ACL_SUCCESS) {
    return code;
  }
  const aclError code = check_synchronous(call);
  if (code == ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT && own_codes) {
    return fail(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
                std::string(call) + ": pageable host memory makes the copy synchronous, which a GLOBAL capture forbids");
  }
  if (code == ACL_SUCCESS) {
    std::memmove(to, from, count);
  }
  return code;
}

aclError copy_async(void* to, std::size_t room, const void* from, std::size_t count, aclrtStream handle, const char* call) {
  if (count == 0) {
    return ACL_SUCCESS;
  }
  if (const aclError code = check_range(to, room, count, from, call); code != ACL_SUCCESS) {
    return code;
  }
  const MemoryKind to_kind = place_of(to).kind;
  const MemoryKind from_kind = place_of(from).kind;
  if (to_kind != MemoryKind::kDevice && from_kind != MemoryKind::kDevice) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, std::string(call) + ": one side must be device memory, both are host memory");
  }
  if (to_kind == MemoryKind::kUnknown || from_kind == MemoryKind::kUnknown) {
    return copy_pageable(to, from, count, handle, call);
  }
  return submit_copy(handle, "MEMCPY_ASYNC", [to, from, count] { std::memmove(to, from, count); });
}

aclError fill(void* to, std::size_t room, int value, std::size_t count, const char* call) {
  if (const aclError code = check_range(to, room, count, to, call); code != ACL_SUCCESS) {
    return code;
  }
  const aclError code = check_synchronous(call);
  if (code == ACL_SUCCESS) {
    std::memset(to, value, count);
  }
  return code;
}

bool value_matches(std::uint64_t actual, std::uint64_t wanted, std::uint32_t comparison) {
  switch (comparison) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::int64_t>(actual - wanted) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ:
      return actual == wanted;
    case ACL_STREAM_WAIT_VALUE_AND:
      return (actual & wanted) != 0;
    default:
      return ~(actual | wanted) != 0;
  }
}

aclError check_value_address(const void* address, const char* call) {
  if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % sizeof(std::uint64_t) != 0) {
    return fail(ACL_ERROR_RT_ADDR_UNALIGNED, std::string(call) + ": the address must be a multiple of 8 and not null");
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtMemcpy(void* to, size_t room, const void* from, size_t count, aclrtMemcpyKind) {
  if (count == 0) {
    return ACL_SUCCESS;
  }
  if (const aclError code = check_range(to, room, count, from, "aclrtMemcpy"); code != ACL_SUCCESS) {
    return code;
  }
  const aclError code = check_synchronous("aclrtMemcpy");
  if (code == ACL_SUCCESS) {
    std::memmove(to, from, count);
  }
  return code;
}

aclError aclrtMemset(void* to, size_t room, int32_t value, size_t count) { return fill(to, room, value, count, "aclrtMemset"); }

aclError aclrtMemcpy2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       aclrtMemcpyKind) {
  if (const aclError code = check_range(to, to_pitch, width, from, "aclrtMemcpy2d"); code != ACL_SUCCESS) {
    return code;
  }
  const aclError code = check_synchronous("aclrtMemcpy2d");
  for (size_t row = 0; code == ACL_SUCCESS && row < height; ++row) {
    std::memmove(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  }
  return code;
}

aclError aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t count, aclrtMemcpyKind, aclrtStream stream) {
  return copy_async(to, room, from, count, stream, "aclrtMemcpyAsync");
}

aclError aclrtMemcpyAsyncWithCondition(void* to, size_t room, const void* from, size_t count, aclrtMemcpyKind,
                                       aclrtStream stream) {
  return copy_async(to, room, from, count, stream, "aclrtMemcpyAsyncWithCondition");
}

aclError aclrtMemsetAsync(void* to, size_t room, int32_t value, size_t count, aclrtStream stream) {
  if (const aclError code = check_range(to, room, count, to, "aclrtMemsetAsync"); code != ACL_SUCCESS) {
    return code;
  }
  return submit_copy(stream, "MEMSET_ASYNC", [to, value, count] { std::memset(to, value, count); });
}

aclError aclrtValueWrite(void* address, uint64_t value, uint32_t, aclrtStream stream) {
  if (const aclError code = check_value_address(address, "aclrtValueWrite"); code != ACL_SUCCESS) {
    return code;
  }
  return submit(stream, "VALUE_WRITE", TaskKind::kOther,
                [address, value] { std::atomic_ref(*static_cast<std::uint64_t*>(address)).store(value); });
}

aclError aclrtValueWait(void* address, uint64_t value, uint32_t comparison, aclrtStream handle) {
  if (const aclError code = check_value_address(address, "aclrtValueWait"); code != ACL_SUCCESS) {
    return code;
  }
  if (comparison > ACL_STREAM_WAIT_VALUE_NOR) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtValueWait: flag must be 0 to 3, got " + std::to_string(comparison));
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream(handle, "aclrtValueWait", stream); code != ACL_SUCCESS) {
    return code;
  }
  Submission submission;
  submission.name = "VALUE_WAIT";
  submission.ready = [address, value, comparison] {
    return value_matches(std::atomic_ref(*static_cast<std::uint64_t*>(address)).load(), value, comparison);
  };
  return submit_locked(stream, std::move(submission));
}

}  // extern "C"

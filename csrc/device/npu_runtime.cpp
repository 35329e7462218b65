// SPDX-License-Identifier: Apache-2.0
// Checked calls of CANN's runtime.
#include "device/npu_runtime.h"

#include <torch_npu/csrc/core/npu/NPUStream.h>

#include <string>

#include "base/error.h"

namespace msprobe::device::npu {
namespace {

constexpr aclError kStreamSubscribed = 107011;

}  // namespace

void check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) {
    return;
  }
  const char* text = aclGetRecentErrMsg();
  std::string advice;
  if (code == kStreamSubscribed) {
    advice =
        "; the stream has a callback subscription of its own (torch_npu.npu._subscribe_report): run the model on another "
        "stream";
  }
  fail("msprobe: ", call, " failed with code ", code, advice, text != nullptr && *text != '\0' ? std::string(": ") + text : "");
}

aclrtStream current_stream() { return c10_npu::getCurrentNPUStream().stream(false); }

aclrtStream current_stream_for_work() { return c10_npu::getCurrentNPUStream().stream(true); }

aclmdlRI capturing(aclrtStream stream) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI graph = nullptr;
  check(aclmdlRICaptureGetInfo(stream, &status, &graph), "aclmdlRICaptureGetInfo");
  return status == ACL_MODEL_RI_CAPTURE_STATUS_NONE ? nullptr : graph;
}

void* allocate_device(std::size_t bytes) {
  void* memory = nullptr;
  check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  return memory;
}

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(aclrtMallocHost(&memory, bytes), "aclrtMallocHost");
  return memory;
}

// A failure here leaves nothing to do: the memory is lost at the worst.
void free_device(void* memory) noexcept {
  if (memory != nullptr) {
    static_cast<void>(aclrtFree(memory));
  }
}

void free_pinned(void* memory) noexcept {
  if (memory != nullptr) {
    static_cast<void>(aclrtFreeHost(memory));
  }
}

void copy_to_device(void* device, const void* host, std::size_t bytes) {
  const RelaxedCapture relaxed;
  check(aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
}

void copy_to_host(void* host, const void* device, std::size_t bytes) {
  const RelaxedCapture relaxed;
  check(aclrtMemcpy(host, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
}

void queue_copy_to_host(void* host, const void* device, std::size_t bytes, aclrtStream stream) {
  check(aclrtMemcpyAsync(host, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream), "aclrtMemcpyAsync");
}

void queue_copy_on_device(void* to, const void* from, std::size_t bytes, aclrtStream stream) {
  check(aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), "aclrtMemcpyAsync");
}

void queue_host_function(aclrtHostFunc function, void* payload, aclrtStream stream) {
  check(aclrtLaunchHostFunc(stream, function, payload), "aclrtLaunchHostFunc");
}

RelaxedCapture::RelaxedCapture() { check(aclmdlRICaptureThreadExchangeMode(&mode_), "aclmdlRICaptureThreadExchangeMode"); }

// The same swap gives the thread its own mode back; it cannot fail where the first did not.
RelaxedCapture::~RelaxedCapture() { static_cast<void>(aclmdlRICaptureThreadExchangeMode(&mode_)); }

}  // namespace msprobe::device::npu

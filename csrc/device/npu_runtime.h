// SPDX-License-Identifier: Apache-2.0
// The few calls of CANN's runtime that msprobe makes, each with its return code checked. Codes and rules: docs/hostnpu.md.
#pragma once

#include <acl/acl.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>

namespace msprobe::device::npu {

// Throws Error with the call's name, CANN's code and CANN's own text.
void check(aclError code, const char* call);

// The current stream of torch on the current device, for questions about it: torch may hold work for it in a queue of its own.
aclrtStream current_stream();

// The same for putting work on it: waits until torch's own queue of launches is empty, so that ours comes behind.
aclrtStream current_stream_for_work();

// The graph that `stream` is being captured into, or null.
aclmdlRI capturing(aclrtStream stream);

void* allocate_device(std::size_t bytes);
void* allocate_pinned(std::size_t bytes);
void free_device(void* memory) noexcept;  // null is fine
void free_pinned(void* memory) noexcept;

// Blocking copies, allowed while a capture is open elsewhere: neither touches what is being captured.
void copy_to_device(void* device, const void* host, std::size_t bytes);
void copy_to_host(void* host, const void* device, std::size_t bytes);

// Queued (or captured) copies. `host` must be pinned.
void queue_copy_to_host(void* host, const void* device, std::size_t bytes, aclrtStream stream);
void queue_copy_on_device(void* to, const void* from, std::size_t bytes, aclrtStream stream);

// Queued (or captured): `function` runs on CANN's callback thread while the stream waits. It must not throw.
void queue_host_function(aclrtHostFunc function, void* payload, aclrtStream stream);

// Switches this thread to relaxed capture mode for its life: blocking calls are then not refused because of a capture.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
};

}  // namespace msprobe::device::npu

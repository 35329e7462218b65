// SPDX-License-Identifier: Apache-2.0
// A context: what belongs together on one device. Each device has one primary context; aclrtCreateContext makes further ones.
#pragma once

#include <memory>

#include "acl/acl.h"
#include "host_function_thread.h"

namespace hostnpu {

class Stream;

class Context {
 public:
  Context(int context_id, int device_id) : id(context_id), device(device_id) {}

  const int id;
  const int device;

  HostFunctionThread& host_functions() { return host_functions_; }

  // Guarded by Runtime::mutex.
  std::shared_ptr<Stream> default_stream;  // made at first use
  int set_count = 0;                       // of a primary context: how often aclrtSetDevice exceeds aclrtResetDevice

 private:
  HostFunctionThread host_functions_;
};

// This thread's context. Without one the default device of aclInit's JSON is set, as real CANN does; if there is none either,
// returns null and sets the error text of 107002, naming `call`.
std::shared_ptr<Context> current_context(const char* call);

// The same for callers that hold Runtime::mutex.
std::shared_ptr<Context> current_context_locked(const char* call);

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// The error text and last error code of each thread, and the calls that read them.
#include "error.h"

#include <utility>

#include "submit.h"

namespace hostnpu {
namespace {

struct ThreadError {
  std::string pending;   // not asked for yet
  std::string returned;  // what the last aclGetRecentErrMsg gave: its pointer must stay valid
  bool has_pending = false;
  aclError last_code = ACL_SUCCESS;
};

ThreadError& thread_error() {
  static thread_local ThreadError error;
  return error;
}

// ATen's exceptions carry a C++ backtrace behind the text: noise for the reader.
std::string without_backtrace(std::string text) {
  for (const char* mark : {"\nException raised from ", " (function operator())"}) {
    if (const auto at = text.find(mark); at != std::string::npos) {
      text.resize(at);
    }
  }
  return text;
}

}  // namespace

void set_error_message(std::string message) {
  ThreadError& error = thread_error();
  error.pending = std::move(message);
  error.has_pending = true;
}

aclError fail(aclError code, const std::string& text) {
  thread_error().last_code = code;
  set_error_message("[hostnpu] " + text + " (error " + std::to_string(code) + ")");
  return code;
}

Failure describe_current_exception(const std::string& task_name) {
  const std::string prefix = "task '" + task_name + "' failed: ";
  try {
    throw;
  } catch (const TaskError& error) {
    return {error.code(), prefix + error.what()};
  } catch (const std::exception& error) {
    return {ACL_ERROR_RT_AICORE_EXCEPTION, prefix + without_backtrace(error.what())};
  } catch (...) {
    return {ACL_ERROR_RT_AICORE_EXCEPTION, prefix + "an exception that is not a std::exception"};
  }
}

}  // namespace hostnpu

using hostnpu::thread_error;

extern "C" {

const char* aclGetRecentErrMsg() {
  auto& error = thread_error();
  if (!error.has_pending) {
    return nullptr;
  }
  error.returned = std::move(error.pending);
  error.pending.clear();
  error.has_pending = false;
  return error.returned.c_str();
}

// Called by the generated stubs.
void hostnpu_not_supported(const char* name);
void hostnpu_not_supported(const char* name) {
  hostnpu::fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, std::string(name) + ": not implemented; docs/hostnpu.md says how to add it");
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return thread_error().last_code; }

aclError aclrtGetLastError(aclrtLastErrLevel) { return std::exchange(thread_error().last_code, ACL_SUCCESS); }

}  // extern "C"

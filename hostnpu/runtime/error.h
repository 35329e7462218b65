// SPDX-License-Identifier: Apache-2.0
// Error codes with a text: what a call returns, what aclGetRecentErrMsg tells afterwards, and what a failed task throws.
#pragma once

#include <stdexcept>
#include <string>

#include "acl/acl.h"

namespace hostnpu {

// Sets this thread's error text to "<text> (<code>)" and returns the code: `return fail(107027, "...")`.
aclError fail(aclError code, const std::string& text);

// Thrown by a task whose failure has a code of its own; any other exception counts as 507015.
class TaskError : public std::runtime_error {
 public:
  TaskError(aclError code, const std::string& text) : std::runtime_error(text), code_(code) {}
  aclError code() const { return code_; }

 private:
  aclError code_;
};

// A failed task: what the stream keeps until somebody synchronises with it.
struct Failure {
  aclError code = ACL_SUCCESS;
  std::string text;
};

// What an exception that left a task means. Call inside a catch block.
Failure describe_current_exception(const std::string& task_name);

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// What the operators and collectives need of the runtime: a place in a stream's order, and a text for an error.
#pragma once

#include <functional>
#include <string>

#include "acl/acl.h"

namespace hostnpu {

// What a task is. Task groups may only update kernels, and a graph's printout shows the kind.
enum class TaskKind { kKernel, kCopy, kEvent, kHostFunc, kGraph, kOther };

// Runs on the device side: on the stream's own thread (clean grad mode, no dispatch modes of the caller), once for every replay
// when it was recorded, so it must own all that it uses except device memory. An exception that leaves it is a failed task: the
// next synchronisation of the stream returns 507015 and its what() is the error text.
using Task = std::function<void()>;

// Puts a task at the end of a stream (null: the default stream of the thread's current context): it runs in order, or is recorded
// when the stream is being captured, or replaces a task of a graph inside a task update. `name` is copied. Returns an ACL error code.
aclError submit(aclrtStream stream, const char* name, TaskKind kind, Task task);

// Sets the text that aclGetRecentErrMsg gives next on this thread.
void set_error_message(std::string message);

}  // namespace hostnpu

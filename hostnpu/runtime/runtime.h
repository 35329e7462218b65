// SPDX-License-Identifier: Apache-2.0
// All state that outlives a call. One mutex guards the tables and every capture; the queues of streams have their own.
// Order of locks: Runtime::mutex, then a stream's or a graph's. No lock is held while a task or a user's function runs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "core_limits.h"
#include "handle_table.h"

namespace hostnpu {

class Capture;
class Context;
class Event;
class Graph;
class Stream;
struct ConditionHandle;
struct TaskGroup;

struct Runtime {
  std::mutex mutex;
  HandleTable<Context> contexts;
  HandleTable<Stream> streams;
  HandleTable<Event> events;
  HandleTable<Graph> graphs;
  HandleTable<TaskGroup> task_groups;
  HandleTable<ConditionHandle> condition_handles;
  std::vector<std::shared_ptr<Context>> primary_contexts;  // by device; null until the device is first set
  std::vector<std::shared_ptr<Capture>> captures;          // the open ones
  std::vector<CoreLimits> device_core_limits;              // by device; empty until one is asked for
  int default_device = -1;                                 // of aclInit's JSON; -1: none
  bool initialised = false;                                // aclInit was called
  int next_context_id = 0;
  int next_stream_id = 0;
  unsigned next_graph_id = 0;
};

// Never destroyed: threads of the library may still use it while the process ends.
Runtime& runtime();

// Closes every stream and callback thread of the process, without waiting for ever. For aclFinalize and the end of the process.
void shut_down();

}  // namespace hostnpu

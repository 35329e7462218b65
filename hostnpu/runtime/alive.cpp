// SPDX-License-Identifier: Apache-2.0
// Tells how many objects of each kind the runtime holds.
#include "alive.h"

#include <cstring>

#include "capture.h"
#include "event.h"
#include "graph.h"
#include "stream.h"

// `kind` is one of the names below; -1: there is no such kind. Objects that a queued task or a graph still needs count as alive.
extern "C" __attribute__((visibility("default"))) std::int64_t hostnpuAlive(const char* kind) {
  using namespace hostnpu;
  const auto is = [kind](const char* name) { return std::strcmp(kind, name) == 0; };
  return is("stream")             ? Alive<Stream>::count()
         : is("event")            ? Alive<Event>::count()
         : is("graph")            ? Alive<Graph>::count()
         : is("capture")          ? Alive<Capture>::count()
         : is("task_group")       ? Alive<TaskGroup>::count()
         : is("condition_handle") ? Alive<ConditionHandle>::count()
                                  : -1;
}

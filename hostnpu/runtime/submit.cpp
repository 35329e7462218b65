// SPDX-License-Identifier: Apache-2.0
// Where a task goes: to the stream's queue, into the graph its stream captures, or into the group its stream updates.
#include "submit.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "capture.h"
#include "config.h"
#include "context.h"
#include "error.h"
#include "graph.h"
#include "runtime.h"
#include "submission.h"

namespace hostnpu {
namespace {

constexpr auto kPollInterval = std::chrono::microseconds(20);

Task wait_then_run(std::function<bool()> ready, Task task) {
  return [ready = std::move(ready), task = std::move(task)] {
    while (!ready()) {
      if (waiting_is_cancelled()) {
        throw TaskError(ACL_ERROR_RT_STREAM_ABORT, "its stream was destroyed while it waited");
      }
      std::this_thread::sleep_for(kPollInterval);
    }
    if (task) {
      task();
    }
  };
}

// The new task takes its place when the update stream gets there: what was submitted to that stream before still comes first.
aclError update_group_member(Stream& stream, Submission submission) {
  GroupUpdate& update = *stream.update;
  const auto graph = update.group->graph.lock();
  if (graph == nullptr) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "task update: the graph of the task group was destroyed");
  }
  if (update.next >= update.group->members.size()) {
    return fail(ACL_ERROR_RT_INTERNAL_ERROR, std::string("task update: '") + submission.name + "' is one task more than the " +
                                                 std::to_string(update.group->members.size()) + " of the group");
  }
  const std::size_t member = update.group->members[update.next];
  if (submission.kind != TaskKind::kKernel || graph->nodes[member].kind != TaskKind::kKernel) {
    return fail(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, std::string("task update: only kernels can be updated, got '") +
                                                        submission.name + "' for '" + graph->nodes[member].name + "'");
  }
  ++update.next;
  stream.push({"task update", [graph, member, task = std::move(submission.task)] { graph->replace_task(member, task); }});
  return ACL_SUCCESS;
}

aclError record_in_capture(const Stream& stream, Submission submission) {
  Node node;
  node.name = submission.name;
  node.kind = submission.kind;
  node.ready = std::move(submission.ready);
  if (submission.task) {
    node.task = std::make_shared<const Task>(std::move(submission.task));
  }
  return stream.capture->add(stream, std::move(node));
}

}  // namespace

void trace(const Stream& stream, const std::string& name) {
  if (config().trace) {
    const char* where = stream.capture != nullptr ? " (captured)" : stream.update ? " (update)" : "";
    std::fprintf(stderr, "[hostnpu] device %d stream %d: %s%s\n", stream.context->device, stream.id, name.c_str(), where);
  }
}

aclError submit_locked(const std::shared_ptr<Stream>& stream, Submission submission) {
  if (stream->capture == nullptr) {  // else Capture::add tells of it, and of the events, which come another way
    trace(*stream, submission.name);
  }
  if (stream->model != nullptr) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                std::string(submission.name) + ": stream " + std::to_string(stream->id) +
                    " is bound to a model that is built by hand; such models hold no tasks here");
  }
  if (stream->update) {
    return update_group_member(*stream, std::move(submission));
  }
  if (stream->capture != nullptr) {
    return record_in_capture(*stream, std::move(submission));
  }
  Task task =
      submission.ready ? wait_then_run(std::move(submission.ready), std::move(submission.task)) : std::move(submission.task);
  stream->push({submission.name, std::move(task), submission.run_when_discarded});
  return ACL_SUCCESS;
}

aclError submit(aclrtStream handle, const char* name, TaskKind kind, Task task) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream(handle, name, stream); code != ACL_SUCCESS) {
    return code;
  }
  Submission submission;
  submission.name = name;
  submission.kind = kind;
  submission.task = std::move(task);
  return submit_locked(stream, std::move(submission));
}

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// The C calls that mark a group of captured tasks and replace its members later.
#include <string>

#include "capture.h"
#include "context.h"
#include "error.h"
#include "runtime.h"
#include "stream.h"

namespace hostnpu {
namespace {

// Call under Runtime::mutex.
aclError find_capturing(aclrtStream handle, const char* call, std::shared_ptr<Stream>& stream) {
  if (const aclError code = find_stream(handle, call, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->capture == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                std::string(call) + ": stream " + std::to_string(stream->id) + " is not being captured");
  }
  return ACL_SUCCESS;
}

aclError find_not_capturing(aclrtStream handle, const char* call, std::shared_ptr<Stream>& stream) {
  if (const aclError code = find_stream(handle, call, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->capture != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED,
                std::string(call) + ": stream " + std::to_string(stream->id) + " is being captured; update on another stream");
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  const aclError code = find_capturing(handle, "aclmdlRICaptureTaskGrpBegin", stream);
  return code != ACL_SUCCESS ? code : stream->capture->begin_group(*stream);
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream handle, aclrtTaskGrp* group) {
  if (group == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureTaskGrpEnd: handle must not be null");
  }
  *group = nullptr;
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  const aclError code = find_capturing(handle, "aclmdlRICaptureTaskGrpEnd", stream);
  return code != ACL_SUCCESS ? code : stream->capture->end_group(*stream, group);
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream handle, aclrtTaskGrp group_handle) {
  constexpr const char* kCall = "aclmdlRICaptureTaskUpdateBegin";
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_not_capturing(handle, kCall, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->model != nullptr) {
    return refuse_bound(*stream, kCall);
  }
  if (stream->update) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                std::string(kCall) + ": stream " + std::to_string(stream->id) + " is updating a group already; end that first");
  }
  const auto group = runtime().task_groups.find(group_handle);
  const auto graph = group == nullptr ? nullptr : group->graph.lock();
  if (graph == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": the task group must belong to a graph that is alive");
  }
  if (graph->state != Graph::State::kReady) {
    return fail(ACL_ERROR_RT_MODEL_CAPTURED, std::string(kCall) + ": the graph of the task group is still being captured");
  }
  stream->update = GroupUpdate{group, 0};
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream handle) {
  constexpr const char* kCall = "aclmdlRICaptureTaskUpdateEnd";
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_not_capturing(handle, kCall, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->model != nullptr) {
    return refuse_bound(*stream, kCall);
  }
  if (!stream->update) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                std::string(kCall) + ": no update is open on stream " + std::to_string(stream->id));
  }
  const std::size_t given = stream->update->next;
  const std::size_t wanted = stream->update->group->members.size();
  stream->update.reset();
  if (given != wanted) {
    return fail(ACL_ERROR_RT_INTERNAL_ERROR, std::string(kCall) + ": the group has " + std::to_string(wanted) +
                                                 " tasks, the update gave " + std::to_string(given));
  }
  return ACL_SUCCESS;
}

}  // extern "C"

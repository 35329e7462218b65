// SPDX-License-Identifier: Apache-2.0
// Conditional tasks: a captured IF whose child graph runs when a value in device memory is not zero.
#include <string>
#include <utility>

#include "capture.h"
#include "context.h"
#include "error.h"
#include "graph.h"
#include "memory.h"
#include "runtime.h"
#include "submission.h"

namespace hostnpu {
namespace {

aclError check_condition_task(const aclmdlRICondTaskParams& params, uint32_t flags) {
  constexpr const char* kCall = "aclmdlRIAddCondTask";
  if (flags != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": flags must be 0, got " + std::to_string(flags));
  }
  if (params.handle == nullptr || params.modelRIArray == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": neither handle nor modelRIArray may be null");
  }
  if (params.type != ACL_MODEL_RI_COND_TYPE_IF) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, std::string(kCall) + ": hostnpu plays IF tasks only, not WHILE or SWITCH");
  }
  if (params.size != 1 && params.size != 2) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                std::string(kCall) + ": an IF task has 1 graph, or 2 with an else, got " + std::to_string(params.size));
  }
  return ACL_SUCCESS;
}

Task branch_task(const ConditionHandle& condition, const std::vector<std::shared_ptr<Graph>>& branches) {
  // The graphs and the value belong to the parent, which owns this task: no reference back, or none would ever be freed.
  std::vector<Graph*> graphs;
  for (const auto& branch : branches) {
    graphs.push_back(branch.get());
  }
  return [value = condition.value, graphs = std::move(graphs)] {
    const std::size_t branch = *value != 0 ? 0 : 1;
    if (branch < graphs.size() && graphs[branch]->state == Graph::State::kReady) {
      graphs[branch]->run();
    }
  };
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclmdlRICondHandleCreate(aclmdlRI model, uint32_t default_value, aclmdlRICondHandleFlag flag,
                                  aclmdlRICondHandle* handle) {
  constexpr const char* kCall = "aclmdlRICondHandleCreate";
  if (handle == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": handle must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  const auto graph = runtime().graphs.find(model);
  if (graph == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": the model must be alive, got an unknown handle");
  }
  void* value = allocate_device(sizeof(uint64_t), graph->context->device, kCall);
  if (value == nullptr) {
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  auto condition = std::make_shared<ConditionHandle>();
  condition->graph = graph;
  condition->value = static_cast<uint64_t*>(value);
  *condition->value = default_value;
  condition->default_value = default_value;
  condition->assign_default = flag == ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
  graph->conditions.push_back(condition);
  *handle = runtime().condition_handles.add(std::move(condition));
  return ACL_SUCCESS;
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** pointer) {
  if (pointer == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRICondHandleGetCondPtr: ptr must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  const auto condition = runtime().condition_handles.find(handle);
  if (condition == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRICondHandleGetCondPtr: the handle must be alive, got an unknown one");
  }
  *pointer = condition->value;
  return ACL_SUCCESS;
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream_handle, uint32_t flags) {
  constexpr const char* kCall = "aclmdlRIAddCondTask";
  if (const aclError code = check_condition_task(params, flags); code != ACL_SUCCESS) {
    return code;
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream(stream_handle, kCall, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->capture == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                std::string(kCall) + ": stream " + std::to_string(stream->id) + " is not being captured");
  }
  const auto condition = runtime().condition_handles.find(params.handle);
  const auto& parent = stream->capture->graph;
  if (condition == nullptr || condition->graph.lock() != parent) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": the handle must be one made for the graph being captured");
  }
  std::vector<std::shared_ptr<Graph>> branches;
  for (uint32_t index = 0; index < params.size; ++index) {
    branches.push_back(std::make_shared<Graph>(runtime().next_graph_id++, parent->context, true));
  }
  Submission submission;
  submission.name = "COND_IF";
  submission.kind = TaskKind::kGraph;
  submission.task = branch_task(*condition, branches);
  if (const aclError code = submit_locked(stream, std::move(submission)); code != ACL_SUCCESS) {
    return code;
  }
  for (uint32_t index = 0; index < params.size; ++index) {
    params.modelRIArray[index] = runtime().graphs.add(branches[index]);
    parent->children.push_back(branches[index]);
  }
  return ACL_SUCCESS;
}

}  // extern "C"

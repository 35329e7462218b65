// SPDX-License-Identifier: Apache-2.0
// The C calls that bind streams to a model which is built by hand instead of captured. Binding follows CANN's rules, since captures refuse
// bound streams; tasks on a bound stream are not played and say so.
#include <string>

#include "context.h"
#include "error.h"
#include "graph.h"
#include "runtime.h"
#include "stream.h"

#include "acl/acl_mdl.h"

namespace hostnpu {
namespace {

// What binding and unbinding both ask of their arguments. Call under Runtime::mutex.
aclError find_both(aclmdlRI model, aclrtStream handle, const char* call, std::shared_ptr<Graph>& graph,
                   std::shared_ptr<Stream>& stream) {
  if (model == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": modelRI must not be null");
  }
  graph = runtime().graphs.find(model);
  if (graph == nullptr || !graph->is_built) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": modelRI must be one that aclmdlRIBuildBegin gave");
  }
  if (const aclError code = find_stream(handle, call, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (graph->context != stream->context) {
    return fail(ACL_ERROR_RT_MODEL_CONTEXT, std::string(call) + ": the model belongs to another context than the stream");
  }
  if (stream->capture != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED,
                std::string(call) + ": stream " + std::to_string(stream->id) + " is being captured");
  }
  return ACL_SUCCESS;
}

}  // namespace

aclError refuse_bound(const Stream& stream, const char* call) {
  return fail(ACL_ERROR_RT_STREAM_MODEL, std::string(call) + ": stream " + std::to_string(stream.id) + " is bound to model " +
                                             std::to_string(stream.model->id) + "; unbind it or use another one");
}

}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclmdlRIBuildBegin(aclmdlRI* model, uint32_t flag) {
  constexpr const char* kCall = "aclmdlRIBuildBegin";
  if (model == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(kCall) + ": modelRI must not be null");
  }
  if (flag != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": flag must be 0, got " + std::to_string(flag));
  }
  const std::lock_guard lock(runtime().mutex);
  const auto context = current_context_locked(kCall);
  if (context == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  auto graph = std::make_shared<Graph>(runtime().next_graph_id++, context, false);
  graph->is_built = true;
  runtime().graphs.add(graph);
  *model = graph.get();
  return ACL_SUCCESS;
}

aclError aclmdlRIBindStream(aclmdlRI model, aclrtStream handle, uint32_t flag) {
  constexpr const char* kCall = "aclmdlRIBindStream";
  if (flag != ACL_MODEL_STREAM_FLAG_HEAD && flag != ACL_MODEL_STREAM_FLAG_DEFAULT) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                std::string(kCall) + ": flag must be ACL_MODEL_STREAM_FLAG_HEAD or ACL_MODEL_STREAM_FLAG_DEFAULT, got " +
                    std::to_string(flag));
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_both(model, handle, kCall, graph, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (!stream->is_persistent) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": stream " + std::to_string(stream->id) +
                                                " must have been created with ACL_STREAM_PERSISTENT");
  }
  if (stream->model != nullptr) {
    return refuse_bound(*stream, kCall);
  }
  stream->model = graph;
  return ACL_SUCCESS;
}

aclError aclmdlRIUnbindStream(aclmdlRI model, aclrtStream handle) {
  constexpr const char* kCall = "aclmdlRIUnbindStream";
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_both(model, handle, kCall, graph, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->model != graph) {
    return fail(ACL_ERROR_RT_STREAM_MODEL, std::string(kCall) + ": stream " + std::to_string(stream->id) +
                                               " is not bound to model " + std::to_string(graph->id));
  }
  stream->model = nullptr;
  return ACL_SUCCESS;
}

}  // extern "C"

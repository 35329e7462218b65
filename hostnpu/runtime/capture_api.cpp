// SPDX-License-Identifier: Apache-2.0
// The C calls that begin, end and ask about captures, and the table of capture modes.
#include <algorithm>
#include <string>
#include <utility>

#include "capture.h"
#include "context.h"
#include "error.h"
#include "runtime.h"
#include "stream.h"

namespace hostnpu {
namespace {

aclmdlRICaptureMode& exchange_mode() {
  static thread_local aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  return mode;
}

bool is_mode(aclmdlRICaptureMode mode) {
  return mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || mode == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL ||
         mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
}

aclError begin_capture(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Graph>& graph, aclmdlRICaptureMode mode) {
  graph->state = Graph::State::kCapturing;
  auto capture = std::make_shared<Capture>(graph, mode);
  capture->join(stream);
  runtime().captures.push_back(std::move(capture));
  return ACL_SUCCESS;
}

// What CaptureBegin and CaptureToModelRIBegin both ask of the stream. Call under Runtime::mutex.
aclError find_stream_to_capture(aclrtStream handle, aclmdlRICaptureMode mode, const char* call,
                                std::shared_ptr<Stream>& stream) {
  if (handle == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM,
                std::string(call) + ": stream must not be null, the default stream cannot be captured");
  }
  if (!is_mode(mode)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": mode must be 0, 1 or 2, got " + std::to_string(mode));
  }
  if (const aclError code = find_stream(handle, call, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->model != nullptr) {
    return refuse_bound(*stream, call);
  }
  if (stream->is_default) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                std::string(call) + ": the default stream cannot be captured; use a created one");
  }
  if (stream->capture != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED,
                std::string(call) + ": stream " + std::to_string(stream->id) + " is being captured already");
  }
  return ACL_SUCCESS;
}

// CaptureEnd for a stream that is in a capture. Call under Runtime::mutex.
aclError end_capture(const Stream& stream, aclmdlRI* handle) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (stream.capture_lane != 0) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, "aclmdlRICaptureEnd: stream " + std::to_string(stream.id) +
                                                           " only joined the capture; end it on the stream that began it");
  }
  aclError code = ACL_SUCCESS;
  if (capture->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && capture->owner != std::this_thread::get_id()) {
    code = fail(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                "aclmdlRICaptureEnd: only a RELAXED capture may end on another thread than the one that began it");
  } else if (!capture->is_valid()) {
    code = fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "aclmdlRICaptureEnd: a call during the capture broke it");
  } else {
    code = capture->check_before_end();
  }
  capture->close(code == ACL_SUCCESS);
  *handle = code == ACL_SUCCESS ? capture->graph.get() : nullptr;
  return code;
}

}  // namespace

aclError check_capture_mode(const Context& context, const char* call) {
  const auto exchange = exchange_mode();
  bool context_global = false;
  bool thread_global = false;
  bool thread_local_mode = false;
  for (const auto& capture : runtime().captures) {
    const bool mine = capture->owner == std::this_thread::get_id();
    const bool global = capture->mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    context_global = context_global || (global && capture->graph->context.get() == &context);
    thread_global = thread_global || (global && mine);
    thread_local_mode = thread_local_mode || (capture->mode == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL && mine);
  }
  const bool context_captures = std::any_of(runtime().captures.begin(), runtime().captures.end(),
                                            [&](const auto& capture) { return capture->graph->context.get() == &context; });
  bool refused = false;
  if (context_captures && exchange == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
    // The strictest capture of the thread decides; one begun GLOBAL hides a THREAD_LOCAL one, but refuses by its context.
    refused = context_global || (thread_local_mode && !thread_global);
  } else if (context_captures && exchange == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL) {
    refused = thread_global || thread_local_mode;
  }
  if (!refused) {
    return ACL_SUCCESS;
  }
  return fail(
      ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
      std::string(call) + ": not allowed while a stream is being captured in " + (context_global ? "GLOBAL" : "THREAD_LOCAL") +
          " mode; use the asynchronous call on the captured stream, do it before the capture, or capture in RELAXED mode");
}

}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclmdlRICaptureBegin(aclrtStream handle, aclmdlRICaptureMode mode) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream_to_capture(handle, mode, "aclmdlRICaptureBegin", stream); code != ACL_SUCCESS) {
    return code;
  }
  auto graph = std::make_shared<Graph>(runtime().next_graph_id++, stream->context, false);
  runtime().graphs.add(graph);
  return begin_capture(stream, graph, mode);
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream handle, aclmdlRI model, aclmdlRICaptureMode mode) {
  constexpr const char* kCall = "aclmdlRICaptureToModelRIBegin";
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream_to_capture(handle, mode, kCall, stream); code != ACL_SUCCESS) {
    return code;
  }
  const auto graph = runtime().graphs.find(model);
  if (graph == nullptr || !graph->is_child) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": the model must be one that aclmdlRIAddCondTask gave");
  }
  if (graph->state != Graph::State::kEmpty) {
    return fail(ACL_ERROR_RT_MODEL_CAPTURED, std::string(kCall) + ": the model is captured already");
  }
  return begin_capture(stream, graph, mode);
}

aclError aclmdlRICaptureGetInfo(aclrtStream handle, aclmdlRICaptureStatus* status, aclmdlRI* model) {
  if (status == nullptr && model == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRICaptureGetInfo: status and modelRI must not both be null");
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, "aclmdlRICaptureGetInfo", stream); code != ACL_SUCCESS) {
    return code;
  }
  // A capture broken by an event or a task group still reads ACTIVE, as in real CANN; only its end tells.
  if (status != nullptr) {
    *status = stream->capture != nullptr ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE : ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  }
  if (model != nullptr) {
    *model = stream->capture != nullptr ? stream->capture->graph.get() : nullptr;
  }
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureEnd(aclrtStream handle, aclmdlRI* model) {
  if (handle == nullptr || model == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureEnd: neither stream nor modelRI may be null");
  }
  *model = nullptr;
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream(handle, "aclmdlRICaptureEnd", stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->model != nullptr) {
    return refuse_bound(*stream, "aclmdlRICaptureEnd");
  }
  if (stream->capture == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                "aclmdlRICaptureEnd: stream " + std::to_string(stream->id) + " is not being captured");
  }
  return end_capture(*stream, model);
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  if (mode == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureThreadExchangeMode: mode must not be null");
  }
  if (!is_mode(*mode)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclmdlRICaptureThreadExchangeMode: mode must be 0, 1 or 2, got " + std::to_string(*mode));
  }
  if (current_context("aclmdlRICaptureThreadExchangeMode") == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  std::swap(*mode, exchange_mode());
  return ACL_SUCCESS;
}

}  // extern "C"

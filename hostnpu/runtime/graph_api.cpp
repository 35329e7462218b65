// SPDX-License-Identifier: Apache-2.0
// The C calls on captured graphs: replay, destroy, print.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "capture.h"
#include "context.h"
#include "error.h"
#include "graph.h"
#include "runtime.h"
#include "submission.h"

namespace hostnpu {
namespace {

constexpr unsigned kDestroyPatienceMs = 10'000;  // what real CANN waits for running replays
constexpr std::size_t kStreamsPerGraph = 1024;   // its pool of queues for one replay

// Call under Runtime::mutex.
aclError find_graph(aclmdlRI handle, const char* call, std::shared_ptr<Graph>& graph) {
  if (handle == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": modelRI must not be null");
  }
  graph = runtime().graphs.find(handle);
  return graph != nullptr
             ? ACL_SUCCESS
             : fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the model must be alive, got an unknown handle");
}

aclError find_captured_graph(aclmdlRI handle, const char* call, std::shared_ptr<Graph>& graph) {
  if (const aclError code = find_graph(handle, call, graph); code != ACL_SUCCESS) {
    return code;
  }
  if (graph->state == Graph::State::kCapturing) {
    return fail(ACL_ERROR_RT_MODEL_CAPTURED, std::string(call) + ": the model is still being captured; end the capture first");
  }
  return ACL_SUCCESS;
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      out += '\\';
    }
    if (static_cast<unsigned char>(character) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(character));
      out += escaped;
    } else {
      out += character;
    }
  }
  return out + '"';
}

const char* kind_name(TaskKind kind) {
  switch (kind) {
    case TaskKind::kKernel:
      return "kernel";
    case TaskKind::kCopy:
      return "copy";
    case TaskKind::kEvent:
      return "event";
    case TaskKind::kHostFunc:
      return "host function";
    case TaskKind::kGraph:
      return "graph";
    case TaskKind::kOther:
      break;
  }
  return "other";
}

// Chrome's trace format: a process is a graph, a thread a captured stream, a microsecond a task.
void print_graph(const Graph& graph, std::string& out) {
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    const Node& node = graph.nodes[index];
    std::string after;
    for (const std::size_t before : node.after) {
      after += (after.empty() ? "" : ", ") + std::to_string(before);
    }
    out += out.empty() ? "[" : ",\n ";
    out += "{\"name\": " + json_text(node.name) + ", \"ph\": \"X\", \"pid\": \"graph" + std::to_string(graph.id) +
           "\", \"tid\": \"stream" + std::to_string(node.lane) + "\", \"ts\": " + std::to_string(index) +
           ", \"dur\": 1, \"args\": {\"kind\": \"" + kind_name(node.kind) + "\", \"after\": [" + after + "]}}";
  }
  for (const auto& child : graph.children) {
    print_graph(*child, out);
  }
}

std::string graph_as_json(const Graph& graph) {
  std::string out;
  print_graph(graph, out);
  return (out.empty() ? "[" : out) + "]\n";
}

aclError render(aclmdlRI handle, const char* call, std::string& json) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Graph> graph;
  const aclError code = find_captured_graph(handle, call, graph);
  if (code == ACL_SUCCESS) {
    json = graph_as_json(*graph);
  }
  return code;
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclmdlRIExecuteAsync(aclmdlRI handle, aclrtStream stream_handle) {
  constexpr const char* kCall = "aclmdlRIExecuteAsync";
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_captured_graph(handle, kCall, graph); code != ACL_SUCCESS) {
    return code;
  }
  if (const aclError code = find_any_stream(stream_handle, kCall, stream); code != ACL_SUCCESS) {
    return code;
  }
  if (graph->context != stream->context) {
    return fail(ACL_ERROR_RT_MODEL_CONTEXT,
                std::string(kCall) + ": the model was captured in another context than the stream's");
  }
  if (graph->state != Graph::State::kReady) {
    return fail(ACL_ERROR_RT_MODEL_EXECUTE, std::string(kCall) + ": the model holds no captured tasks");
  }
  if (stream->capture != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, std::string(kCall) + ": stream " + std::to_string(stream->id) +
                                                  " is being captured; a graph cannot be replayed into a graph");
  }
  if (const std::size_t streams = graph->hardware_streams; streams > kStreamsPerGraph) {
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                std::string("EE1023: ") + kCall + ": the model needs " + std::to_string(streams) + " streams, a replay has " +
                    std::to_string(kStreamsPerGraph) + "; capture fewer streams and tasks in one graph");
  }
  Submission submission;
  submission.name = "MODEL_EXECUTE";
  submission.kind = TaskKind::kGraph;
  submission.task = [ticket = std::make_shared<Graph::Ticket>(graph)] { ticket->graph().run(); };
  return submit_locked(stream, std::move(submission));
}

aclError aclmdlRIExecute(aclmdlRI handle, int32_t) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Graph> graph;
  if (const aclError code = find_graph(handle, "aclmdlRIExecute", graph); code != ACL_SUCCESS) {
    return code;
  }
  return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIExecute: a captured model runs with aclmdlRIExecuteAsync only");
}

aclError aclmdlRIDestroy(aclmdlRI handle) {
  constexpr const char* kCall = "aclmdlRIDestroy";
  std::shared_ptr<Graph> graph;
  {
    const std::lock_guard lock(runtime().mutex);
    if (const aclError code = find_captured_graph(handle, kCall, graph); code != ACL_SUCCESS) {
      return code;
    }
    if (graph->is_child) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": the model of a conditional task goes with its parent");
    }
  }
  if (!graph->wait_until_idle(kDestroyPatienceMs)) {
    return fail(ACL_ERROR_RT_MODEL_RUNNING,
                std::string(kCall) + ": a replay is still running after 10 s; synchronise its stream first");
  }
  {
    const std::lock_guard lock(runtime().mutex);
    if (runtime().graphs.find(handle) == nullptr) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(kCall) + ": another thread destroyed the model meanwhile");
    }
    forget_graph(graph);
  }
  for (const auto& [callback, user_data] : graph->destroy_callbacks) {
    callback(user_data);
  }
  return ACL_SUCCESS;
}

aclError aclmdlRIGetId(aclmdlRI handle, uint32_t* id) {
  if (id == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetId: modelRIId must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Graph> graph;
  if (const aclError code = find_graph(handle, "aclmdlRIGetId", graph); code != ACL_SUCCESS) {
    return code;
  }
  *id = graph->id;
  return ACL_SUCCESS;
}

aclError aclmdlRISetName(aclmdlRI handle, const char* name) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Graph> graph;
  if (const aclError code = find_graph(handle, "aclmdlRISetName", graph); code != ACL_SUCCESS) {
    return code;
  }
  graph->name = name == nullptr ? "" : name;
  return ACL_SUCCESS;
}

aclError aclmdlRIGetName(aclmdlRI handle, uint32_t length, char* name) {
  if (name == nullptr || length == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetName: name must not be null and maxLen not 0");
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Graph> graph;
  if (const aclError code = find_graph(handle, "aclmdlRIGetName", graph); code != ACL_SUCCESS) {
    return code;
  }
  std::snprintf(name, length, "%s", graph->name.c_str());
  return ACL_SUCCESS;
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI handle, const char* path, uint32_t) {
  if (path == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIDebugJsonPrint: path must not be null");
  }
  std::string json;
  if (const aclError code = render(handle, "aclmdlRIDebugJsonPrint", json); code != ACL_SUCCESS) {
    return code;
  }
  std::ofstream file(path);
  if (!file.is_open()) {
    return fail(ACL_ERROR_RT_FILE_OPEN, std::string("aclmdlRIDebugJsonPrint: cannot open '") + path + "' for writing");
  }
  file << json;
  file.close();
  return file.good() ? ACL_SUCCESS
                     : fail(ACL_ERROR_RT_FILE_WRITE, std::string("aclmdlRIDebugJsonPrint: writing '") + path + "' failed");
}

// Declared deprecated; torch_npu still calls it.
aclError aclmdlRIDebugPrint(aclmdlRI handle) {
  std::string json;
  const aclError code = render(handle, "aclmdlRIDebugPrint", json);
  if (code == ACL_SUCCESS) {
    std::fputs(json.c_str(), stderr);
  }
  return code;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// How an open capture grows, and the rules it must keep to become a graph.
#include "capture.h"

#include <algorithm>

#include "context.h"
#include "error.h"
#include "event.h"
#include "runtime.h"
#include "stream.h"
#include "submission.h"

namespace hostnpu {
namespace {

std::string stream_name(const std::weak_ptr<Stream>& stream) {
  const auto alive = stream.lock();
  return alive == nullptr ? "a destroyed stream" : "stream " + std::to_string(alive->id);
}

}  // namespace

Capture::Capture(std::shared_ptr<Graph> target, aclmdlRICaptureMode capture_mode)
    : graph(std::move(target)), mode(capture_mode), owner(std::this_thread::get_id()) {}

void Capture::join(const std::shared_ptr<Stream>& stream) {
  stream->capture = shared_from_this();
  stream->capture_lane = lanes_.size();
  lanes_.push_back({});
  lanes_.back().stream = stream;
  graph->lanes = lanes_.size();
}

aclError Capture::add(const Stream& stream, Node node) {
  trace(stream, node.name);
  if (!valid_) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "'" + node.name + "' on stream " + std::to_string(stream.id) +
                                                             ": the capture broke before; end it and capture again");
  }
  Lane& lane = lanes_[stream.capture_lane];
  if (lane.open_group == nullptr) {
    for (const Lane& other : lanes_) {
      if (other.open_group != nullptr) {
        invalidate();
        return fail(ACL_ERROR_STREAM_TASK_GROUP_INTR, "'" + node.name + "' on stream " + std::to_string(stream.id) +
                                                          ": no other stream of the capture may get a task while " +
                                                          stream_name(other.stream) + " has a task group open");
      }
    }
  } else {
    lane.open_group->members.push_back(graph->nodes.size());
  }
  lane.ends_with_record = false;
  lane.last_node = graph->nodes.size();
  node.lane = stream.capture_lane;
  graph->nodes.push_back(std::move(node));
  return ACL_SUCCESS;
}

aclError Capture::record(const Stream& stream, const std::shared_ptr<Event>& event) {
  Node node;
  node.name = "EVENT_RECORD";
  node.kind = TaskKind::kEvent;
  if (const aclError code = add(stream, std::move(node)); code != ACL_SUCCESS) {
    return code;
  }
  Lane& lane = lanes_[stream.capture_lane];
  lane.ends_with_record = true;
  lane.record_is_awaited = false;
  event->capture = shared_from_this();
  event->record_lane = stream.capture_lane;
  event->record_node = lane.last_node;
  events_.insert(event);
  return ACL_SUCCESS;
}

aclError Capture::wait(const Stream& stream, const std::shared_ptr<Event>& event) {
  Node node;
  node.name = "EVENT_WAIT";
  node.kind = TaskKind::kEvent;
  const bool recorded = event->capture != nullptr;
  if (recorded) {
    node.after.push_back(event->record_node);
  }
  if (const aclError code = add(stream, std::move(node)); code != ACL_SUCCESS) {
    return code;
  }
  if (recorded) {
    Lane& source = lanes_[event->record_lane];
    if (source.ends_with_record && source.last_node == event->record_node) {
      source.record_is_awaited = true;
    }
  } else {
    waits_before_record_.emplace_back(graph->nodes.size() - 1, event);
  }
  return ACL_SUCCESS;
}

aclError Capture::begin_group(const Stream& stream) {
  Lane& lane = lanes_[stream.capture_lane];
  if (lane.open_group != nullptr) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "aclmdlRICaptureTaskGrpBegin: stream " + std::to_string(stream.id) +
                                                        " has a task group open; groups do not nest");
  }
  lane.open_group = std::make_shared<TaskGroup>();
  lane.open_group->graph = graph;
  return ACL_SUCCESS;
}

aclError Capture::end_group(const Stream& stream, aclrtTaskGrp* handle) {
  Lane& lane = lanes_[stream.capture_lane];
  if (lane.open_group == nullptr) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "aclmdlRICaptureTaskGrpEnd: stream " + std::to_string(stream.id) +
                                                        " has no task group open; call aclmdlRICaptureTaskGrpBegin first");
  }
  graph->groups.push_back(std::move(lane.open_group));
  lane.open_group = nullptr;
  *handle = runtime().task_groups.add(graph->groups.back());
  return ACL_SUCCESS;
}

// That one chain of joins reaches the origin follows: of all side streams, the one that recorded last can only be waited for by it.
aclError Capture::check_lanes() const {
  for (std::size_t index = 1; index < lanes_.size(); ++index) {
    const Lane& lane = lanes_[index];
    if (!lane.ends_with_record || !lane.record_is_awaited) {
      return fail(ACL_ERROR_RT_STREAM_UNJOINED,
                  "aclmdlRICaptureEnd: " + stream_name(lane.stream) +
                      " is not joined: its last task must be the record of an event that another stream "
                      "of the capture waits for");
    }
  }
  return ACL_SUCCESS;
}

aclError Capture::check_before_end() {
  for (const auto& child : graph->children) {
    if (child->state == Graph::State::kCapturing) {
      return fail(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
                  "aclmdlRICaptureEnd: the graph of a conditional task is still being captured");
    }
  }
  for (const Lane& lane : lanes_) {
    if (lane.open_group != nullptr) {
      return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "aclmdlRICaptureEnd: " + stream_name(lane.stream) +
                                                          " has a task group open; call aclmdlRICaptureTaskGrpEnd first");
    }
  }
  if (const aclError code = check_lanes(); code != ACL_SUCCESS) {
    return code;
  }
  for (const auto& [node, event] : waits_before_record_) {
    if (event->capture.get() != this) {
      return fail(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                  "aclmdlRICaptureEnd: a stream of the capture waits for an event that was never recorded in it");
    }
    graph->nodes[node].after.push_back(event->record_node);
  }
  return ACL_SUCCESS;
}

void Capture::close(bool keep) {
  Runtime& state = runtime();
  for (const Lane& lane : lanes_) {
    if (const auto stream = lane.stream.lock(); stream != nullptr && stream->capture.get() == this) {
      stream->capture = nullptr;
    }
  }
  for (const auto& event : events_) {
    if (event->capture.get() == this) {
      event->capture = nullptr;
    }
  }
  events_.clear();
  waits_before_record_.clear();
  for (const auto& child : graph->children) {
    const auto open = state.captures;
    for (const auto& capture : open) {
      if (capture->graph == child) {
        capture->close(false);
      }
    }
  }
  if (keep) {
    graph->finish();
  } else if (graph->is_child) {
    graph->state = Graph::State::kEmpty;  // stays with its parent, which may capture into it again
    graph->nodes.clear();
  } else {
    forget_graph(graph);
  }
  std::erase_if(state.captures, [this](const auto& capture) { return capture.get() == this; });
}

}  // namespace hostnpu

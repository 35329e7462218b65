// SPDX-License-Identifier: Apache-2.0
// Replays: how the recorded nodes are walked. All lanes run on the thread of the stream that replays; a valid order, not in parallel.
#include "graph.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "error.h"
#include "memory.h"
#include "runtime.h"
#include "stream.h"

namespace hostnpu {
namespace {

constexpr auto kPollInterval = std::chrono::microseconds(20);

void check_not_cancelled() {
  if (waiting_is_cancelled()) {
    throw TaskError(ACL_ERROR_RT_STREAM_ABORT, "its stream was destroyed during the replay");
  }
}

// Where a replay stands in each lane.
class LaneCursors {
 public:
  LaneCursors(const std::vector<Node>& nodes, std::size_t lanes) : nodes_(nodes), lanes_(lanes), done_(nodes.size()) {
    next_.resize(lanes);
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      lanes_[nodes[index].lane].push_back(index);
    }
  }

  // The earliest recorded node that may run now; nodes.size() when every lane waits.
  std::size_t next_ready() const {
    std::size_t best = nodes_.size();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (next_[lane] == lanes_[lane].size()) {
        continue;
      }
      const std::size_t index = lanes_[lane][next_[lane]];
      if (index < best && may_run(nodes_[index])) {
        best = index;
      }
    }
    return best;
  }

  void mark_done(std::size_t index) {
    done_[index] = true;
    ++next_[nodes_[index].lane];
  }

 private:
  bool may_run(const Node& node) const {
    for (const std::size_t before : node.after) {
      if (!done_[before]) {
        return false;
      }
    }
    return node.ready == nullptr || node.ready();
  }

  const std::vector<Node>& nodes_;
  std::vector<std::vector<std::size_t>> lanes_;
  std::vector<std::size_t> next_;
  std::vector<bool> done_;
};

}  // namespace

ConditionHandle::~ConditionHandle() {
  if (value != nullptr) {
    free_block(value, MemoryKind::kDevice, "aclmdlRIDestroy");
  }
}

void Graph::finish() {
  bool may_wait = false;
  bool points_forward = false;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    may_wait = may_wait || nodes[index].ready != nullptr;
    for (const std::size_t before : nodes[index].after) {
      points_forward = points_forward || before >= index;
    }
  }
  // One lane may simply stand still. Several must go on while one waits: what it waits for may come from another one.
  recorded_order_works_ = lanes <= 1 || (!may_wait && !points_forward);
  hardware_streams = count_hardware_streams();
  state = State::kReady;
}

void Graph::run() {
  for (const auto& condition : conditions) {
    if (condition->assign_default) {
      *condition->value = condition->default_value;
    }
  }
  if (recorded_order_works_) {
    run_in_recorded_order();
  } else {
    run_by_readiness();
  }
}

void Graph::run_node(const Node& node) {
  std::shared_ptr<const Task> task = node.task;
  if (!groups.empty()) {
    const std::lock_guard lock(task_mutex_);
    task = node.task;
  }
  if (task == nullptr) {
    return;
  }
  try {
    (*task)();
  } catch (...) {
    const Failure failure = describe_current_exception(node.name);
    throw TaskError(failure.code, failure.text);
  }
}

void Graph::run_in_recorded_order() {
  for (const Node& node : nodes) {
    check_not_cancelled();
    while (node.ready != nullptr && !node.ready()) {
      check_not_cancelled();
      std::this_thread::sleep_for(kPollInterval);
    }
    run_node(node);
  }
}

void Graph::run_by_readiness() {
  LaneCursors cursors(nodes, lanes);
  for (std::size_t finished = 0; finished < nodes.size();) {
    check_not_cancelled();
    const std::size_t index = cursors.next_ready();
    if (index == nodes.size()) {
      std::this_thread::sleep_for(kPollInterval);
      continue;
    }
    run_node(nodes[index]);
    cursors.mark_done(index);
    ++finished;
  }
}

void Graph::replace_task(std::size_t index, Task task) {
  auto replacement = std::make_shared<const Task>(std::move(task));
  const std::lock_guard lock(task_mutex_);
  nodes[index].task.swap(replacement);
}

Graph::Ticket::Ticket(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {
  const std::lock_guard lock(graph_->run_mutex_);
  ++graph_->replays_;
}

Graph::Ticket::~Ticket() {
  const std::lock_guard lock(graph_->run_mutex_);
  --graph_->replays_;
  graph_->run_changed_.notify_all();
}

bool Graph::wait_until_idle(unsigned timeout_ms) {
  std::unique_lock lock(run_mutex_);
  return run_changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [this] { return replays_ == 0; });
}

// CANN puts captured tasks into queues of 2,048 and keeps 32 places of each; where one is full, it chains a further stream to it.
std::size_t Graph::count_hardware_streams() const {
  constexpr std::size_t kTasksPerStream = 2048 - 32;
  // A host function is a callback, a wait for its end and the reset of that event.
  constexpr std::size_t kTasksPerHostFunction = 3;
  std::vector<std::size_t> tasks(lanes, 0);
  for (const Node& node : nodes) {
    tasks[node.lane] += node.kind == TaskKind::kHostFunc ? kTasksPerHostFunction : 1;
  }
  std::size_t count = 0;
  for (const std::size_t lane : tasks) {
    count += std::max<std::size_t>(1, (lane + kTasksPerStream - 1) / kTasksPerStream);
  }
  for (const auto& child : children) {
    count += child->hardware_streams;
  }
  return count;
}

void forget_graph(const std::shared_ptr<Graph>& graph) {
  Runtime& state = runtime();
  for (const auto& group : graph->groups) {
    state.task_groups.remove(group.get());
  }
  for (const auto& condition : graph->conditions) {
    state.condition_handles.remove(condition.get());
  }
  for (const auto& child : graph->children) {
    forget_graph(child);
  }
  if (graph->is_built) {
    for (const auto& stream : state.streams.all()) {
      if (stream->model == graph) {
        stream->model = nullptr;
      }
    }
  }
  state.graphs.remove(graph.get());
}

}  // namespace hostnpu

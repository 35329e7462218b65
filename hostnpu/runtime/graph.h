// SPDX-License-Identifier: Apache-2.0
// A captured graph (aclmdlRI): recorded tasks in lanes (one a captured stream), the event edges between them, and its replays.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "alive.h"
#include "submit.h"

namespace hostnpu {

class Context;
class Graph;

struct Node {
  std::string name;
  TaskKind kind = TaskKind::kOther;
  std::size_t lane = 0;
  std::shared_ptr<const Task> task;  // null: nothing to run, only an order (a captured event)
  std::function<bool()> ready;       // null: never waits; else the node runs when it is true (an external event, a value)
  std::vector<std::size_t> after;    // nodes of any lane that must have run before, besides the lane's own earlier nodes
};

// Tasks between aclmdlRICaptureTaskGrpBegin and End: what a later update may replace.
struct TaskGroup : Alive<TaskGroup> {
  std::weak_ptr<Graph> graph;
  std::vector<std::size_t> members;  // indices of nodes
};

// The value that decides whether the child of an IF task runs. It lies in device memory: kernels and copies set it.
struct ConditionHandle : Alive<ConditionHandle> {
  std::weak_ptr<Graph> graph;
  std::uint64_t* value = nullptr;
  std::uint32_t default_value = 0;
  bool assign_default = false;  // at the start of every replay

  ~ConditionHandle();
};

class Graph : public Alive<Graph> {
 public:
  enum class State { kEmpty, kCapturing, kReady };

  Graph(unsigned graph_id, std::shared_ptr<Context> owner, bool child)
      : id(graph_id), context(std::move(owner)), is_child(child) {}

  const unsigned id;
  const std::shared_ptr<Context> context;
  const bool is_child;  // of an IF task: lives and dies with its parent

  // Guarded by Runtime::mutex while capturing; nodes never change afterwards, but for their tasks (replace_task).
  State state = State::kEmpty;
  std::vector<Node> nodes;
  std::size_t lanes = 0;
  std::vector<std::shared_ptr<TaskGroup>> groups;
  std::vector<std::shared_ptr<ConditionHandle>> conditions;
  std::vector<std::shared_ptr<Graph>> children;
  std::vector<std::pair<aclrtCallback, void*>> destroy_callbacks;
  std::string name;
  bool is_built = false;  // by aclmdlRIBuildBegin, not captured

  std::size_t hardware_streams = 0;  // that a replay needs on a device, those of the children included; known after finish()

  // No more nodes: decides how replays walk them.
  void finish();

  // One replay, on the calling (stream) thread. An exception of a node ends it: later nodes do not run.
  void run();

  void replace_task(std::size_t index, Task task);

  // Replays queued or running. A replay holds a ticket until it is over or dropped.
  class Ticket {
   public:
    explicit Ticket(std::shared_ptr<Graph> graph);
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    Graph& graph() const { return *graph_; }

   private:
    std::shared_ptr<Graph> graph_;
  };
  bool wait_until_idle(unsigned timeout_ms);

 private:
  std::size_t count_hardware_streams() const;
  void run_node(const Node& node);
  void run_in_recorded_order();
  void run_by_readiness();

  bool recorded_order_works_ = true;
  std::mutex task_mutex_;  // guards Node::task once capture is over
  std::mutex run_mutex_;
  std::condition_variable run_changed_;
  unsigned replays_ = 0;
};

// Takes a graph and what belongs to it out of the tables. Call under Runtime::mutex.
void forget_graph(const std::shared_ptr<Graph>& graph);

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// An open capture: the streams in it, what they recorded last, and whether it can still become a graph.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "alive.h"
#include "graph.h"
#include "submit.h"

namespace hostnpu {

class Context;
class Event;
class Stream;

// All members are guarded by Runtime::mutex.
class Capture : public Alive<Capture>, public std::enable_shared_from_this<Capture> {
 public:
  Capture(std::shared_ptr<Graph> target, aclmdlRICaptureMode capture_mode);

  const std::shared_ptr<Graph> graph;
  const aclmdlRICaptureMode mode;
  const std::thread::id owner;

  bool is_valid() const { return valid_; }
  void invalidate() { valid_ = false; }

  // Lane 0 is the stream that began the capture.
  void join(const std::shared_ptr<Stream>& stream);

  // Records a task of a stream of this capture. 107034 (and the capture is invalid) when another stream has a task group open.
  aclError add(const Stream& stream, Node node);

  aclError record(const Stream& stream, const std::shared_ptr<Event>& event);
  // event->capture is this capture, or the event was never recorded (then it must be, in this capture, before its end).
  aclError wait(const Stream& stream, const std::shared_ptr<Event>& event);

  aclError begin_group(const Stream& stream);
  aclError end_group(const Stream& stream, aclrtTaskGrp* handle);

  // 0 when the capture may become a graph, else the code of the first rule it breaks.
  aclError check_before_end();

  // Ends it: streams leave, events are free again. keep: the graph is ready; else it is forgotten.
  void close(bool keep);

 private:
  struct Lane {
    std::weak_ptr<Stream> stream;
    bool ends_with_record = false;   // its last task is the record of an event ...
    bool record_is_awaited = false;  // ... and a stream of the capture waits for it
    std::size_t last_node = 0;
    std::shared_ptr<TaskGroup> open_group;
  };

  aclError check_lanes() const;

  bool valid_ = true;
  std::vector<Lane> lanes_;
  std::set<std::shared_ptr<Event>> events_;
  std::vector<std::pair<std::size_t, std::shared_ptr<Event>>> waits_before_record_;
};

// Whether a call that cannot be captured (a synchronous copy) is allowed now for this thread in its context; otherwise sets the
// error text, naming `call`, and returns 107030. Call under Runtime::mutex.
aclError check_capture_mode(const Context& context, const char* call);

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// The C calls on events, with the rules of events inside captures.
#include <memory>
#include <string>
#include <utility>

#include "capture.h"
#include "context.h"
#include "error.h"
#include "event.h"
#include "runtime.h"
#include "submission.h"

namespace hostnpu {
namespace {

// Flags of which one must be set for streams to wait for the event; 4 is the runtime's own, of aclrtCreateEvent.
constexpr std::uint32_t kWaitedForFlags = ACL_EVENT_SYNC | 4U | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;

aclError create_event(aclrtEvent* handle, Event::Kind kind, std::uint32_t flag, const char* call) {
  if (handle == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": event must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  *handle = runtime().events.add(std::make_shared<Event>(kind, (flag & kWaitedForFlags) != 0));
  return ACL_SUCCESS;
}

// Call under Runtime::mutex.
aclError find_event(aclrtEvent handle, const char* call, std::shared_ptr<Event>& event) {
  event = runtime().events.find(handle);
  return event != nullptr
             ? ACL_SUCCESS
             : fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the event must be alive, got an unknown handle");
}

// For calls from the host on an event, which real CANN refuses while the capture that recorded the event is open.
aclError find_free_event(aclrtEvent handle, const char* call, std::shared_ptr<Event>& event) {
  const std::lock_guard lock(runtime().mutex);
  if (const aclError code = find_event(handle, call, event); code != ACL_SUCCESS) {
    return code;
  }
  if (event->capture != nullptr) {
    return fail(ACL_ERROR_RT_EVENT_CAPTURED, std::string(call) + ": the event was recorded in a capture that is still open");
  }
  return ACL_SUCCESS;
}

aclError find_both(aclrtEvent event_handle, aclrtStream stream_handle, const char* call, std::shared_ptr<Event>& event,
                   std::shared_ptr<Stream>& stream) {
  if (const aclError code = find_stream(stream_handle, call, stream); code != ACL_SUCCESS) {
    return code;
  }
  return find_event(event_handle, call, event);
}

aclError refuse_default_stream(const char* call) {
  return fail(
      ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
      std::string(call) + ": the default stream cannot take part in a capture, and the event was recorded in an open one");
}

aclError refuse_progress_event(const char* call) {
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              std::string(call) + ": the event was created without ACL_EVENT_SYNC, so streams cannot wait for it");
}

aclError refuse_legacy(const char* call) {
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              std::string(call) +
                  ": only events of aclrtCreateEventExWithFlag can be captured, not those of aclrtCreateEvent[WithFlag]");
}

aclError refuse_conflict(Capture& one, Capture& other, const char* call) {
  one.invalidate();
  other.invalidate();
  return fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT,
              std::string(call) + ": the event and the stream belong to two captures; both are invalid now");
}

aclError submit_event_task(const std::shared_ptr<Stream>& stream, const char* name, Task task, std::function<bool()> ready,
                           bool run_when_discarded) {
  Submission submission;
  submission.name = name;
  submission.kind = TaskKind::kEvent;
  submission.task = std::move(task);
  submission.ready = std::move(ready);
  submission.run_when_discarded = run_when_discarded;
  return submit_locked(stream, std::move(submission));
}

aclError record_event(const std::shared_ptr<Event>& event, const std::shared_ptr<Stream>& stream, const char* call) {
  if (event->kind == Event::Kind::kExternal) {
    return submit_event_task(stream, "EXTERNAL_EVENT_RECORD", [event] { event->raise(); }, nullptr, true);
  }
  if (stream->capture != nullptr) {
    if (event->kind == Event::Kind::kLegacy) {
      return refuse_legacy(call);
    }
    if (!event->can_be_waited_for) {
      return ACL_SUCCESS;  // CANN leaves the record out: torch's host allocator records such events whether captured or not
    }
    if (event->capture != nullptr && event->capture != stream->capture) {
      return refuse_conflict(*event->capture, *stream->capture, call);
    }
    return stream->capture->record(*stream, event);
  }
  if (event->capture != nullptr && stream->is_default) {
    return refuse_default_stream(call);
  }
  if (stream->model != nullptr) {
    return submit_event_task(stream, "EVENT_RECORD", nullptr, nullptr, true);  // which refuses it, before the event is reset
  }
  const std::uint64_t generation = event->begin_record();
  return submit_event_task(stream, "EVENT_RECORD", [event, generation] { event->complete(generation); }, nullptr, true);
}

// The event was recorded in an open capture: the waiting stream joins it.
aclError wait_for_captured(const std::shared_ptr<Event>& event, const std::shared_ptr<Stream>& stream, const char* call) {
  if (stream->is_default) {
    return refuse_default_stream(call);
  }
  if (stream->model != nullptr) {
    event->capture->invalidate();
    return refuse_bound(*stream, call);
  }
  if (stream->capture == nullptr) {
    event->capture->join(stream);
  } else if (stream->capture != event->capture) {
    return refuse_conflict(*event->capture, *stream->capture, call);
  }
  return stream->capture->wait(*stream, event);
}

aclError wait_event(const std::shared_ptr<Event>& event, const std::shared_ptr<Stream>& stream, const char* call) {
  if (event->kind == Event::Kind::kExternal) {
    return submit_event_task(stream, "EXTERNAL_EVENT_WAIT", nullptr, [event] { return event->is_raised(); }, false);
  }
  if (!event->can_be_waited_for) {
    return refuse_progress_event(call);
  }
  if (event->capture != nullptr) {
    return wait_for_captured(event, stream, call);
  }
  const std::uint64_t generation = event->recorded();
  if (stream->capture != nullptr) {
    if (event->kind == Event::Kind::kLegacy) {
      return refuse_legacy(call);
    }
    if (generation != 0) {
      return fail(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                  std::string(call) + ": a captured stream cannot wait for an event recorded outside its capture");
    }
    return stream->capture->wait(*stream, event);
  }
  event->add_wait();
  return submit_event_task(
      stream, "EVENT_WAIT",
      [event, generation] {
        event->wait_on_stream(generation);
        event->finish_wait();
      },
      nullptr, false);
}

aclError reset_event(const std::shared_ptr<Event>& event, const std::shared_ptr<Stream>& stream, const char* call) {
  if (event->kind == Event::Kind::kExternal) {
    return submit_event_task(stream, "EXTERNAL_EVENT_RESET", [event] { event->lower(); }, nullptr, false);
  }
  if (!event->can_be_waited_for) {
    return refuse_progress_event(call);
  }
  if (event->capture != nullptr) {
    if (stream->is_default) {
      return refuse_default_stream(call);
    }
    if (stream->capture == nullptr) {
      event->capture->invalidate();
      return fail(ACL_ERROR_RT_INTERNAL_ERROR, std::string(call) + ": the event was recorded in an open capture, stream " +
                                                   std::to_string(stream->id) + " is not in one; the capture is invalid now");
    }
    if (stream->capture != event->capture) {
      return refuse_conflict(*event->capture, *stream->capture, call);
    }
    Node node;
    node.name = "EVENT_RESET";
    node.kind = TaskKind::kEvent;
    return stream->capture->add(*stream, std::move(node));
  }
  if (stream->capture != nullptr) {
    return refuse_legacy(call);
  }
  return ACL_SUCCESS;  // each record is a generation of its own: there is nothing to take back
}

aclError synchronize_event(aclrtEvent handle, int timeout_ms, const char* call) {
  std::shared_ptr<Event> event;
  if (const aclError code = find_free_event(handle, call, event); code != ACL_SUCCESS) {
    return code;
  }
  if (!event->wait_on_host(event->recorded(), timeout_ms)) {
    return fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                std::string(call) + ": not reached within " + std::to_string(timeout_ms) + " ms");
  }
  return ACL_SUCCESS;
}

aclError timestamp_of(aclrtEvent handle, const char* call, std::uint64_t* nanoseconds) {
  std::shared_ptr<Event> event;
  if (const aclError code = find_free_event(handle, call, event); code != ACL_SUCCESS) {
    return code;
  }
  if (!event->timestamp(nanoseconds)) {
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, std::string(call) + ": the event must have been recorded and reached");
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtCreateEvent(aclrtEvent* event) {
  return create_event(event, Event::Kind::kLegacy, kWaitedForFlags, "aclrtCreateEvent");
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  const auto kind = (flag & ACL_EVENT_EXTERNAL) != 0 ? Event::Kind::kExternal : Event::Kind::kLegacy;
  return create_event(event, kind, flag, "aclrtCreateEventWithFlag");
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  constexpr std::uint32_t kJoinable = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | 4U | ACL_EVENT_TIME_LINE;
  if (flag != ACL_EVENT_IPC && (flag == 0 || (flag & ~kJoinable) != 0)) {
    return fail(
        ACL_ERROR_RT_PARAM_INVALID,
        "aclrtCreateEventExWithFlag: flag must be made of ACL_EVENT_SYNC (1), ACL_EVENT_CAPTURE_STREAM_PROGRESS (2) and "
        "ACL_EVENT_TIME_LINE (8), got " +
            std::to_string(flag) + "; external events come from aclrtCreateEventWithFlag");
  }
  return create_event(event, Event::Kind::kOrdinary, flag, "aclrtCreateEventExWithFlag");
}

aclError aclrtDestroyEvent(aclrtEvent handle) {
  const std::lock_guard lock(runtime().mutex);
  if (runtime().events.remove(handle) == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyEvent: the event must be alive, got an unknown handle");
  }
  return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event_handle, aclrtStream stream_handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Event> event;
  std::shared_ptr<Stream> stream;
  const aclError code = find_both(event_handle, stream_handle, "aclrtRecordEvent", event, stream);
  return code != ACL_SUCCESS ? code : record_event(event, stream, "aclrtRecordEvent");
}

aclError aclrtStreamWaitEvent(aclrtStream stream_handle, aclrtEvent event_handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Event> event;
  std::shared_ptr<Stream> stream;
  const aclError code = find_both(event_handle, stream_handle, "aclrtStreamWaitEvent", event, stream);
  return code != ACL_SUCCESS ? code : wait_event(event, stream, "aclrtStreamWaitEvent");
}

aclError aclrtResetEvent(aclrtEvent event_handle, aclrtStream stream_handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Event> event;
  std::shared_ptr<Stream> stream;
  const aclError code = find_both(event_handle, stream_handle, "aclrtResetEvent", event, stream);
  return code != ACL_SUCCESS ? code : reset_event(event, stream, "aclrtResetEvent");
}

aclError aclrtSynchronizeEvent(aclrtEvent event) { return synchronize_event(event, -1, "aclrtSynchronizeEvent"); }

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout_ms) {
  return synchronize_event(event, timeout_ms, "aclrtSynchronizeEventWithTimeout");
}

aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus* status) {
  if (status == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status must not be null");
  }
  std::shared_ptr<Event> event;
  if (const aclError code = find_free_event(handle, "aclrtQueryEventStatus", event); code != ACL_SUCCESS) {
    return code;
  }
  const bool complete = event->kind == Event::Kind::kExternal ? event->is_raised() : event->is_complete();
  *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent handle, aclrtEventWaitStatus* status) {
  if (status == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventWaitStatus: status must not be null");
  }
  std::shared_ptr<Event> event;
  if (const aclError code = find_free_event(handle, "aclrtQueryEventWaitStatus", event); code != ACL_SUCCESS) {
    return code;
  }
  *status = event->all_waits_done() ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  if (milliseconds == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: ms must not be null");
  }
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  for (const auto& [handle, target] : {std::pair{start, &begin_ns}, std::pair{end, &end_ns}}) {
    if (const aclError code = timestamp_of(handle, "aclrtEventElapsedTime", target); code != ACL_SUCCESS) {
      return code;
    }
  }
  *milliseconds = static_cast<float>((static_cast<double>(end_ns) - static_cast<double>(begin_ns)) / 1e6);
  return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent handle, uint64_t* microseconds) {
  if (microseconds == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp: timestamp must not be null");
  }
  std::uint64_t nanoseconds = 0;
  const aclError code = timestamp_of(handle, "aclrtEventGetTimestamp", &nanoseconds);
  *microseconds = nanoseconds / 1000;
  return code;
}

}  // extern "C"

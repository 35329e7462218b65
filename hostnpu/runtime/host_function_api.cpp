// SPDX-License-Identifier: Apache-2.0
// Functions of the host in a stream's order: aclrtLaunchHostFunc on the context's thread, aclrtLaunchCallback on the user's.
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "context.h"
#include "error.h"
#include "runtime.h"
#include "settings.h"
#include "submission.h"

namespace hostnpu {
namespace {

struct Report {
  std::function<void()> function;
  bool done = false;
};

// What waits for one user thread that calls aclrtProcessReport.
struct ReportQueue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Report>> reports;
  int subscriptions = 0;  // guarded by the map's mutex
};

struct ReportQueues {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::shared_ptr<ReportQueue>> by_thread;
};

ReportQueues& report_queues() {
  static ReportQueues* const queues = new ReportQueues;
  return *queues;
}

std::shared_ptr<ReportQueue> find_queue(std::uint64_t thread) {
  const std::lock_guard lock(report_queues().mutex);
  const auto found = report_queues().by_thread.find(thread);
  return found == report_queues().by_thread.end() ? nullptr : found->second;
}

void deliver(const std::shared_ptr<ReportQueue>& queue, std::function<void()> function, bool block) {
  const auto report = std::make_shared<Report>(Report{std::move(function)});
  std::unique_lock lock(queue->mutex);
  queue->reports.push_back(report);
  queue->changed.notify_all();
  if (block) {
    wait_cancellable(lock, queue->changed, [&] { return report->done; });
  }
}

aclError refuse_mixing(const Stream& stream, const char* call, const char* other) {
  return fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, std::string(call) + ": stream " + std::to_string(stream.id) +
                                                 " already has callbacks of " + other + "; one stream cannot have both kinds");
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtLaunchHostFunc(aclrtStream handle, aclrtHostFunc function, void* arguments) {
  if (function == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchHostFunc: fn must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream(handle, "aclrtLaunchHostFunc", stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->report_thread != 0) {
    return refuse_mixing(*stream, "aclrtLaunchHostFunc", "aclrtSubscribeReport");
  }
  stream->launched_host_function = true;
  Submission submission;
  submission.name = "HOST_FUNC";
  submission.kind = TaskKind::kHostFunc;
  submission.task = [context = stream->context, function, arguments] {
    context->host_functions().run([function, arguments] { function(arguments); }, op_wait_timeout_ms());
  };
  return submit_locked(stream, std::move(submission));
}

aclError aclrtSubscribeReport(uint64_t thread, aclrtStream handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream(handle, "aclrtSubscribeReport", stream); code != ACL_SUCCESS) {
    return code;
  }
  if (thread == 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtSubscribeReport: threadId must be that of the thread that calls aclrtProcessReport, got 0");
  }
  if (stream->launched_host_function) {
    return refuse_mixing(*stream, "aclrtSubscribeReport", "aclrtLaunchHostFunc");
  }
  if (stream->report_thread != 0) {
    return fail(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                "aclrtSubscribeReport: stream " + std::to_string(stream->id) + " is subscribed already");
  }
  const std::lock_guard queues_lock(report_queues().mutex);
  auto& queue = report_queues().by_thread[thread];
  if (queue == nullptr) {
    queue = std::make_shared<ReportQueue>();
  }
  ++queue->subscriptions;
  stream->report_thread = thread;
  return ACL_SUCCESS;
}

aclError aclrtUnSubscribeReport(uint64_t thread, aclrtStream handle) {
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_any_stream(handle, "aclrtUnSubscribeReport", stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->report_thread == 0 || stream->report_thread != thread) {
    return fail(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                "aclrtUnSubscribeReport: stream " + std::to_string(stream->id) + " is not subscribed to that thread");
  }
  stream->report_thread = 0;
  const std::lock_guard queues_lock(report_queues().mutex);
  const auto found = report_queues().by_thread.find(thread);
  if (found != report_queues().by_thread.end() && --found->second->subscriptions == 0) {
    report_queues().by_thread.erase(found);
  }
  return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback function, void* user_data, aclrtCallbackBlockType block, aclrtStream handle) {
  if (function == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchCallback: fn must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  std::shared_ptr<Stream> stream;
  if (const aclError code = find_stream(handle, "aclrtLaunchCallback", stream); code != ACL_SUCCESS) {
    return code;
  }
  if (stream->launched_host_function) {
    return refuse_mixing(*stream, "aclrtLaunchCallback", "aclrtLaunchHostFunc");
  }
  const auto queue = find_queue(stream->report_thread);
  if (queue == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_NO_CB_REG, "aclrtLaunchCallback: stream " + std::to_string(stream->id) +
                                                   " must be subscribed first, with aclrtSubscribeReport");
  }
  Submission submission;
  submission.name = "CALLBACK";
  submission.kind = TaskKind::kHostFunc;
  submission.task = [queue, function, user_data, block] {
    deliver(queue, [function, user_data] { function(user_data); }, block == ACL_CALLBACK_BLOCK);
  };
  return submit_locked(stream, std::move(submission));
}

aclError aclrtProcessReport(int32_t timeout_ms) {
  const auto queue = find_queue(static_cast<std::uint64_t>(pthread_self()));
  if (queue == nullptr) {
    return fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "aclrtProcessReport: no stream is subscribed to this thread");
  }
  std::shared_ptr<Report> report;
  {
    std::unique_lock lock(queue->mutex);
    const auto arrived = [&] { return !queue->reports.empty(); };
    if (timeout_ms < 0) {
      queue->changed.wait(lock, arrived);
    } else if (!queue->changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), arrived)) {
      return fail(ACL_ERROR_RT_REPORT_TIMEOUT, "aclrtProcessReport: no callback within " + std::to_string(timeout_ms) + " ms");
    }
    report = std::move(queue->reports.front());
    queue->reports.pop_front();
  }
  report->function();
  const std::lock_guard lock(queue->mutex);
  report->done = true;
  queue->changed.notify_all();
  return ACL_SUCCESS;
}

}  // extern "C"

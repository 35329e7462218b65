// SPDX-License-Identifier: Apache-2.0
// From rows to the host log.
#include "device/npu_log.h"

#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "device/npu_graph_ends.h"
#include "device/npu_streams.h"
#include "device/tensor_facts.h"

namespace msprobe::device::npu {
namespace {

// A thread that is in no forward (a compiled submodule was called) and so never commits does so after this many eager records.
constexpr std::size_t kMaxPendingEager = 4096;

}  // namespace

struct NpuLog::Payload {
  std::shared_ptr<log::Session> session;
  std::vector<Site> sites;
  bool captured = false;                // runs at every replay; else once, and frees itself
  std::uint64_t forward = 0;            // number of the commit
  log::GraphId graph = 0;               // of a captured one
  std::uint64_t replays = 0;            // callbacks so far; only the callback thread counts
  aclrtContext copy_context = nullptr;  // set: the callback copies the rows itself, in this context
};

NpuLog::NpuLog(std::shared_ptr<log::Session> session, c10::Device device, const Settings& settings)
    : session_(std::move(session)), device_(device), settings_(settings) {}

// Only when no graph was captured and the device has been waited for: rows are freed with the pool.
NpuLog::~NpuLog() {
  const c10::DeviceGuard guard(device_);
  pool_.free();
}

void NpuLog::stat(const at::Tensor& x, const log::Record& record, bool recording) {
  const c10::DeviceGuard guard(device_);
  Site site;
  site.graph = capturing(current_stream());
  if (site.graph == nullptr && !recording) {
    return;
  }
  site.row = site.graph != nullptr ? pool_.take_captured() : pool_.take_transient();
  site.record = record;
  site.format = queue_statistics(x, site.row, settings_.npu_rows_by_copy);
  if (!site.format.note.empty()) {
    site.record.note = session_->notes.intern(site.format.note);
  }
  if (site.graph != nullptr && settings_.identity && has_memory(x)) {
    mark_overlaps(x, site);
  }
  add_pending(std::move(site));
}

void NpuLog::mark_overlaps(const at::Tensor& x, Site& site) {
  const std::lock_guard lock(mutex_);
  Thread& mine = threads_[std::this_thread::get_id()];
  if (mine.capture != site.graph) {
    mine.capture = site.graph;
    mine.live.clear();
  }
  for (const log::TagId tag : mine.live.add(x, site.record.tag)) {
    add_note(site.record, "shares memory with " + place_of(tag) + ", which was alive");
    for (PendingSite& one : mine.pending) {
      if (one.site.graph == site.graph && one.site.record.tag == tag) {
        add_note(one.site.record, "shares memory with " + place_of(site.record.tag) + ", which came while this was alive");
      }
    }
  }
}

std::string NpuLog::place_of(log::TagId tag) const {
  const log::Tag& place = session_->tags[tag];
  return place.name + (place.section == log::Section::kOutput ? "'s output" : "'s input");
}

void NpuLog::add_note(log::Record& record, const std::string& text) const {
  const std::string& before = session_->notes[record.note];
  record.note = session_->notes.intern(before.empty() ? text : before + "; " + text);
}

void NpuLog::keep(const log::Record& record, bool recording) {
  const c10::DeviceGuard guard(device_);
  Site site;
  site.graph = capturing(current_stream());
  site.record = record;
  if (site.graph != nullptr || recording) {
    add_pending(std::move(site));
  }
}

void NpuLog::add_pending(Site site) {
  const bool eager = site.graph == nullptr;
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    Thread& mine = threads_[std::this_thread::get_id()];
    mine.pending.push_back({std::move(site), torch_stream(device_)});
    full = eager && mine.pending.size() >= kMaxPendingEager && !session_->lanes.busy(std::this_thread::get_id());
  }
  if (full) {
    commit(session_->lanes.fresh_forward());
  }
}

std::vector<c10::Stream> NpuLog::side_streams(std::span<const PendingSite> pending, aclmdlRI graph,
                                              const c10::Stream& current) {
  std::vector<c10::Stream> others;
  for (const PendingSite& one : pending) {
    const bool known = std::find(others.begin(), others.end(), one.stream) != others.end();
    if (one.site.graph == graph && one.stream != current && !known) {
      others.push_back(one.stream);
    }
  }
  return others;
}

// In a capture: all captured rows of this thread, from whichever graph (the pieces of a broken graph are replayed in turn, the last one
// commits for all); eager rows wait for an eager commit, since a graph must not read rows that will be used again. Eagerly: all, and the
// rows captured by this thread that no graph commits, in the order in which their places were first seen.
std::vector<Site> NpuLog::take_for_commit(Thread& mine, aclmdlRI graph) {
  std::vector<Site> sites;
  if (graph != nullptr) {
    std::vector<PendingSite> eager;
    for (PendingSite& one : mine.pending) {
      if (one.site.graph == nullptr) {
        eager.push_back(std::move(one));
        continue;
      }
      if (one.site.graph != graph) {
        polled_.push_back(one.site);
      }
      sites.push_back(std::move(one.site));
    }
    mine.pending = std::move(eager);
    return sites;
  }
  std::vector<Site> fresh;
  std::vector<Site> newly_captured;
  for (PendingSite& one : mine.pending) {
    if (one.site.graph != nullptr) {
      newly_captured.push_back(one.site);
    }
    fresh.push_back(std::move(one.site));
  }
  mine.pending.clear();
  auto captured = mine.uncommitted.begin();
  for (Site& site : fresh) {
    while (captured != mine.uncommitted.end() && captured->record.tag < site.record.tag) {
      sites.push_back(*captured++);
    }
    sites.push_back(std::move(site));
  }
  sites.insert(sites.end(), captured, mine.uncommitted.end());
  mine.uncommitted.insert(mine.uncommitted.end(), newly_captured.begin(), newly_captured.end());
  polled_.insert(polled_.end(), newly_captured.begin(), newly_captured.end());
  return sites;
}

void NpuLog::commit(std::uint64_t forward) {
  const c10::DeviceGuard guard(device_);
  aclmdlRI graph = capturing(current_stream());
  auto payload = std::make_unique<Payload>();
  payload->session = session_;
  payload->captured = graph != nullptr;
  payload->forward = forward;
  const c10::Stream current = torch_stream(device_);
  std::vector<c10::Stream> others;
  {
    const std::lock_guard lock(mutex_);
    Thread& mine = threads_[std::this_thread::get_id()];
    others = side_streams(mine.pending, graph, current);
    payload->sites = take_for_commit(mine, graph);
  }
  if (payload->sites.empty()) {
    return;
  }
  try {
    join_streams(others, current);
    queue_transfer(payload, current_stream_for_work());
  } catch (const std::exception& error) {
    // The model must not fail for it. Eager rows are read by drain(); those of a capture cannot be brought to the host.
    session_->background_error(std::string("msprobe cannot bring the records of a forward to the host: ") + error.what());
    const std::lock_guard lock(mutex_);
    Thread& mine = threads_[std::this_thread::get_id()];
    for (Site& site : payload->sites) {
      if (site.graph == nullptr) {
        mine.pending.push_back({std::move(site), current});
      } else {
        session_->count_dropped(1);
      }
    }
  }
}

// Takes the payload over as soon as a callback may use it.
void NpuLog::queue_transfer(std::unique_ptr<Payload>& payload, aclrtStream stream) {
  const std::vector<Range> ranges = ranges_of(payload->sites);
  if (settings_.npu_copy_in_callback) {
    check(aclrtGetCurrentContext(&payload->copy_context), "aclrtGetCurrentContext");
  } else {
    for (const Range& range : ranges) {
      queue_copy_to_host(range.block->host_row(range.first), range.block->device_row(range.first), bytes_of(range), stream);
    }
  }
  std::vector<Site> to_reset;
  std::copy_if(payload->sites.begin(), payload->sites.end(), std::back_inserter(to_reset),
               [](const Site& site) { return site.graph != nullptr; });
  if (payload->captured) {
    payload->graph = session_->graphs.add(static_cast<std::int64_t>(payload->sites.size()));
  }
  queue_host_function(&NpuLog::run_callback, payload.get(), stream);
  if (payload->captured) {
    keep_until_end(std::move(payload), capturing(stream));
  } else {
    static_cast<void>(payload.release());  // run_callback frees it
  }
  for (const Range& range : ranges_of(to_reset)) {
    queue_reset(range, pool_.sentinels(), stream);
  }
}

void NpuLog::keep_until_end(std::unique_ptr<Payload> payload, aclmdlRI graph) {
  const Payload* kept = payload.get();
  {
    const std::lock_guard lock(mutex_);
    payloads_.push_back(std::move(payload));
  }
  // If it is never called, all stays as long as the process lives.
  static_cast<void>(at_graph_end(graph, device_, [log = weak_from_this(), kept, graph] {
    if (const auto alive = log.lock()) {
      alive->give_back(kept, graph);
    }
  }));
}

// The graph is gone and nothing of it runs any more. Rows of other graphs that it has committed stay: those may live.
void NpuLog::give_back(const Payload* payload, aclmdlRI graph) noexcept {
  const c10::DeviceGuard guard(device_);
  try {
    session_->graphs.ended(payload->graph);
    std::vector<Site> own;
    std::copy_if(payload->sites.begin(), payload->sites.end(), std::back_inserter(own),
                 [&](const Site& site) { return site.graph == graph && site.has_row(); });
    for (const Range& range : ranges_of(own)) {
      pool_.give_back(*range.block, range.first, range.rows);
    }
  } catch (const std::exception& error) {
    session_->background_error(std::string("msprobe cannot give back what a destroyed graph has used: ") + error.what());
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(payloads_, [&](const auto& one) { return one.get() == payload; });
}

void NpuLog::abandon() {
  const c10::DeviceGuard guard(device_);
  const aclmdlRI graph = capturing(current_stream());
  if (graph == nullptr) {
    commit(session_->lanes.fresh_forward());
    return;
  }
  // The capture is failing: what it holds will never run.
  const std::lock_guard lock(mutex_);
  Thread& mine = threads_[std::this_thread::get_id()];
  std::erase_if(mine.pending, [&](const PendingSite& one) { return one.site.graph == graph; });
}

// On CANN's callback thread, which has no current context and serves all streams of the device: no call of the runtime (unless the
// setting asks for it), no GIL, no wait for another stream.
void NpuLog::run_callback(void* raw) noexcept {
  auto* payload = static_cast<Payload*>(raw);
  try {
    if (payload->copy_context != nullptr) {
      check(aclrtSetCurrentContext(payload->copy_context), "aclrtSetCurrentContext");
      for (const Range& range : ranges_of(payload->sites)) {
        copy_to_host(range.block->host_row(range.first), range.block->device_row(range.first), bytes_of(range));
      }
    }
    log::Session& session = *payload->session;
    // A commit that runs once reads what its thread's graphs have left: each such commit is a replay of its own.
    const std::uint64_t replay = payload->captured ? payload->replays++ : payload->forward;
    const std::vector<log::Record> records = written(payload->sites, replay, session);
    const bool recording = payload->captured ? session.lanes.recording() : true;
    if (payload->captured) {
      session.graphs.replayed(payload->graph);
    }
    if (recording && !session.closed()) {
      session.host_log.append(records, {payload->forward, payload->captured ? replay : 0});
    }
  } catch (const std::exception& error) {
    payload->session->count_dropped(payload->sites.size());
    payload->session->background_error(std::string("msprobe lost the records of a forward: ") + error.what());
  }
  if (!payload->captured) {
    release_transient(payload->sites);
    delete payload;
  }
}

void NpuLog::drain() {
  const c10::DeviceGuard guard(device_);
  constexpr const char* kInCapture =
      "msprobe: step() must not be called while a graph is being captured: call it after the capture, or between replays";
  if (capturing(current_stream()) != nullptr) {
    fail(kInCapture);
  }
  commit(session_->lanes.fresh_forward());
  // Before the wait: what other threads queue during it would be read before the device has written it.
  std::vector<Site> transient;
  std::vector<Site> captured;
  {
    const std::lock_guard lock(mutex_);
    captured = polled_;
    for (auto& [id, thread] : threads_) {
      const bool busy = session_->lanes.busy(id);
      for (PendingSite& one : thread.pending) {
        if (one.site.graph != nullptr) {
          captured.push_back(one.site);
        } else if (!busy) {
          transient.push_back(std::move(one.site));
        }
      }
      if (!busy) {
        std::erase_if(thread.pending, [](const PendingSite& one) { return one.site.graph == nullptr; });
      }
    }
  }
  try {
    wait_for_device(device_);
  } catch (const c10::Error& error) {
    const std::lock_guard lock(mutex_);
    Thread& mine = threads_[std::this_thread::get_id()];
    for (Site& site : transient) {
      mine.pending.push_back({std::move(site), torch_stream(device_)});
    }
    if (std::string_view(error.what_without_backtrace()).find("107027") != std::string_view::npos) {
      fail(kInCapture);  // on another stream, or by another thread
    }
    throw;
  }
  drain_transient(transient);
  drain_captured(captured);
}

// Eager rows that nobody has committed; the device has been waited for since they were queued.
void NpuLog::drain_transient(std::span<const Site> sites) {
  for (const Range& range : ranges_of(sites)) {
    copy_to_host(range.block->host_row(range.first), range.block->device_row(range.first), bytes_of(range));
  }
  session_->host_log.append(written(sites, 0, *session_));
  release_transient(sites);
}

// What replays have left in rows that their own graph does not commit. (The others' rows are left alone: another thread may be
// replaying them right now.) Read into memory of its own, since a commit may be using the mirror.
void NpuLog::drain_captured(std::span<const Site> sites) {
  std::vector<log::Record> records;
  const std::uint64_t replay = session_->lanes.fresh_forward();
  std::vector<Site> with_row;
  std::copy_if(sites.begin(), sites.end(), std::back_inserter(with_row), [](const Site& site) { return site.has_row(); });
  std::size_t next = 0;
  for (const Range& range : ranges_of(with_row)) {
    std::vector<std::byte> rows(bytes_of(range));
    copy_to_host(rows.data(), range.block->device_row(range.first), rows.size());
    for (std::int64_t i = 0; i < range.rows; ++i, ++next) {
      const std::byte* row = rows.data() + static_cast<std::size_t>(i) * kRowBytes;
      if (!is_sentinel(row)) {
        records.push_back(with_row[next].record);
        records.back().replay = replay;
        records.back().stats = read_row(row, with_row[next].format);
        copy_to_device(with_row[next].row.device() + kNormOffset, &kSentinel, sizeof kSentinel);
      }
    }
  }
  if (session_->lanes.recording()) {
    session_->host_log.append(records);
  }
}

void NpuLog::reserve(std::int64_t sites) {
  const c10::DeviceGuard guard(device_);
  pool_.reserve(sites);
  pool_.sentinels();
}

}  // namespace msprobe::device::npu

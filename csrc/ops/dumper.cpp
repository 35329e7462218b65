// SPDX-License-Identifier: Apache-2.0
// Sessions, device logs and the table of handles.
#include "ops/dumper.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <pthread.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/cpu_log.h"
#include "device/save_sink.h"
#include "device/tensor_facts.h"
#include "dump/run.h"
#include "dump/saver.h"

namespace msprobe::ops {
namespace {

bool device_less(const c10::Device& left, const c10::Device& right) {
  return std::pair(left.type(), left.index()) < std::pair(right.type(), right.index());
}

// The operators get a plain number (a traced graph can hold nothing else), so there must be one table for the process.
struct Table {
  std::mutex mutex;  // not a shared_mutex: glibc's cannot be unlocked in a forked child while the parent's readers wait for it
  std::vector<std::shared_ptr<Dumper>> dumpers;
};

Table& table() {
  // Never destroyed: a device's callback thread may outlive main(). Never locked in a forked child by a thread that is not there.
  static auto* all = [] {
    pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); }, [] { table().mutex.unlock(); });
    return new Table;
  }();
  return *all;
}

}  // namespace

Dumper::Dumper(DumperOptions options)
    : options_(std::move(options)),
      session_(std::make_shared<log::Session>(options_.wanted)),
      tensors_(options_.tensors ? std::make_shared<dump::TensorLog>(session_) : nullptr),
      logs_(&device_less) {}

std::shared_ptr<device::DeviceLog> Dumper::device_log(c10::Device device) {
  if (session_->closed()) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  auto& place = logs_[device];
  if (!place) {
    place = device::make_device_log(session_, device, options_.settings);
  }
  return place;
}

std::vector<std::shared_ptr<device::DeviceLog>> Dumper::device_logs() {
  std::vector<std::shared_ptr<device::DeviceLog>> all;
  const std::lock_guard lock(mutex_);
  for (auto& [device, device_log] : logs_) {
    all.push_back(device_log);
  }
  return all;
}

std::optional<c10::Device> Dumper::accelerator() {
  const std::lock_guard lock(mutex_);
  const auto first = std::find_if(logs_.begin(), logs_.end(), [](const auto& log) { return !log.first.is_cpu(); });
  if (first == logs_.end()) {
    return std::nullopt;
  }
  // Of several the thread's current one: it is the one that a capture is under way on.
  const auto current = logs_.find(c10::impl::VirtualGuardImpl(first->first.type()).getDevice());
  return current == logs_.end() ? first->first : current->first;
}

void Dumper::stat(const at::Tensor& given, log::TagId tag) {
  const std::shared_ptr<device::DeviceLog> own = device_log(given.device());
  if (own == nullptr) {
    return;
  }
  if (session_->tags[tag].section == log::Section::kParameters) {  // of no call, and whole
    own->stat(given, device::describe(given, tag, *session_), true);
    return;
  }
  const log::Lanes::Place place = session_->lanes.next(session_->tags[tag]);
  if (!place.wanted) {
    return;
  }
  at::Tensor x = given;
  std::string note;
  try {
    x = sliced(given, options_.slices);
  } catch (const c10::Error& error) {  // whatever a tensor of a foreign kind answers must not reach the model
    note = std::string("not sliced: ") + error.what_without_backtrace();
  }
  log::Record record = device::describe(x, tag, *session_);
  record.call = place.call;
  if (!note.empty()) {
    record.note = session_->notes.intern(note);
  }
  if (tensors_ != nullptr) {
    save(x, record, place);
    return;
  }
  const std::optional<c10::Device> with = x.device().is_cpu() ? accelerator() : std::nullopt;
  const std::shared_ptr<device::DeviceLog> other = with ? device_log(*with) : nullptr;
  if (other != nullptr) {
    other->keep(static_cast<device::CpuLog&>(*own).measure(x, record), place.recording);
  } else {
    own->stat(x, record, place.recording);
  }
}

// What cannot be saved is recorded as such and never fails the model.
void Dumper::save(const at::Tensor& x, const log::Record& record, const log::Lanes::Place& place) {
  std::string reason = device::why_not_saved(x);
  if (reason.empty()) {
    try {
      device::save_tensor(x.detach(), x.device().is_cpu() ? accelerator() : std::nullopt,
                          [&](bool captured) { return tensors_->target(record, place, captured); });
      return;
    } catch (const c10::Error& error) {
      reason = error.what_without_backtrace();
    } catch (const std::exception& error) {
      reason = error.what();
    }
  }
  log::Record without_values = record;
  without_values.note = session_->notes.intern("not saved: " + reason);
  tensors_->keep(without_values, place);
}

void Dumper::enter() { session_->lanes.enter_forward(); }

// The thread leaves its forward last: until then close() frees nothing.
void Dumper::commit() {
  commit_logs();
  session_->lanes.end_forward();
}

void Dumper::commit_part() {
  commit_logs();
  session_->lanes.end_part();
}

void Dumper::commit_logs() {
  if (session_->closed()) {
    return;
  }
  const std::uint64_t forward = session_->lanes.forward();
  for (const auto& device_log : device_logs()) {
    device_log->commit(forward);
  }
}

void Dumper::abandon() {
  for (const auto& device_log : device_logs()) {
    device_log->abandon();
  }
  session_->lanes.end_forward();
}

void Dumper::set_folder(const std::string& folder) {
  const std::lock_guard lock(step_mutex_);
  folder_ = folder;
  if (tensors_ != nullptr) {
    tensors_->set_folder(folder);
  }
}

void Dumper::drain() {
  session_->lanes.settle();
  for (const auto& device_log : device_logs()) {
    device_log->drain();
  }
}

std::vector<log::Record> Dumper::take() {
  std::vector<log::Record> records = session_->host_log.take();
  if (tensors_ != nullptr) {
    dump::Saver::instance().queue().flush();
    tensors_->collect();
    // Apart from what came before: parameters that a forward's commit brought would give that forward's tensors their place.
    const std::vector<log::Record> saved = session_->host_log.take();
    records.insert(records.end(), saved.begin(), saved.end());
  }
  parameters_.take_from(records, session_->tags);
  session_->account.recorded(records, session_->tags);
  return records;
}

std::int64_t Dumper::write(bool empty, const NextStep& next) {
  const std::lock_guard lock(step_mutex_);
  drain();
  session_->throw_background_error();
  const auto pause = tensors_ != nullptr ? std::make_optional<dump::TensorLog::Pause>(*tensors_) : std::nullopt;
  std::vector<log::Record> records = take();
  std::int64_t entries = 0;
  if (empty || !records.empty()) {
    try {
      dump::FileNames* names = tensors_ != nullptr ? &tensors_->names : nullptr;
      const dump::Run run{options_.run, session_->graphs.all(), session_->account.summary(session_->tags), session_->dropped()};
      entries = dump::write_dump_json({options_.level, folder_, names, dump::run_text(run)}, records, parameters_, *session_);
      session_->graphs.end_step(run.graphs);
    } catch (...) {
      session_->host_log.put_back(std::move(records));
      throw;
    }
  }
  folder_ = next.folder;
  set_recording(next.recording);
  if (tensors_ != nullptr) {
    tensors_->end_step(next.folder);
  }
  return entries;
}

void Dumper::discard() {
  const std::lock_guard lock(step_mutex_);
  drain();
  const auto pause = tensors_ != nullptr ? std::make_optional<dump::TensorLog::Pause>(*tensors_) : std::nullopt;
  const std::vector<log::Record> records = take();
  if (tensors_ != nullptr) {
    tensors_->remove_step(records);
  }
  session_->graphs.end_step(session_->graphs.all());
  session_->throw_background_error();
}

bool Dumper::close() {
  session_->close();  // from here on no forward begins to record
  if (session_->lanes.any_entered()) {
    return false;
  }
  try {
    const std::lock_guard lock(step_mutex_);
    drain();
  } catch (const std::exception&) {
    return false;  // during a capture: the device cannot be waited for, and what is queued may still write
  }
  static_cast<void>(take());  // tensors that were saved are on disk when this returns
  const std::lock_guard lock(mutex_);
  const bool in_use = std::any_of(logs_.begin(), logs_.end(), [](const auto& log) { return log.second->holds_graphs(); });
  if (!in_use) {
    logs_.clear();
  }
  return !in_use;
}

Handle open_dumper(DumperOptions options) {
  Table& all = table();
  auto dumper = std::make_shared<Dumper>(std::move(options));
  const std::lock_guard lock(all.mutex);
  all.dumpers.push_back(std::move(dumper));
  return static_cast<Handle>(all.dumpers.size());
}

std::shared_ptr<Dumper> find_dumper(Handle handle) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  if (handle < 1 || handle > static_cast<Handle>(all.dumpers.size())) {
    fail("msprobe: no dumper has the handle ", handle, ": handles come from AclGraphDumper.start() of this process");
  }
  return all.dumpers[static_cast<std::size_t>(handle - 1)];
}

void renew_dumper(Handle handle) {
  const auto parents = find_dumper(handle);
  if (parents == nullptr) {
    return;
  }
  auto fresh = std::make_shared<Dumper>(parents->options());
  static_cast<void>(new std::shared_ptr<Dumper>(parents));  // never destroyed: its locks may be held by threads of the parent
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.dumpers[static_cast<std::size_t>(handle - 1)] = std::move(fresh);
}

void close_dumper(Handle handle) {
  const auto dumper = find_dumper(handle);
  if (dumper && dumper->close()) {
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    all.dumpers[static_cast<std::size_t>(handle - 1)].reset();
  }
}

}  // namespace msprobe::ops

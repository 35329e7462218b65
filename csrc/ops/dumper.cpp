// SPDX-License-Identifier: Apache-2.0
// Sessions, device logs and the table of handles.
#include "ops/dumper.h"

#include <algorithm>
#include <exception>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/cpu_log.h"

namespace msprobe::ops {
namespace {

bool device_less(const c10::Device& left, const c10::Device& right) {
  return std::pair(left.type(), left.index()) < std::pair(right.type(), right.index());
}

// The operators get a plain number (a traced graph can hold nothing else), so there must be one table for the process.
struct Table {
  std::shared_mutex mutex;
  std::vector<std::shared_ptr<Dumper>> dumpers;
};

Table& table() {
  static auto* all = new Table;  // never destroyed: a device's callback thread may outlive main()
  return *all;
}

}  // namespace

Dumper::Dumper(dump::DumpHeader header, const device::Settings& settings)
    : header_(std::move(header)), settings_(settings), session_(std::make_shared<log::Session>()), logs_(&device_less) {}

std::shared_ptr<device::DeviceLog> Dumper::device_log(c10::Device device) {
  if (session_->closed()) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  auto& place = logs_[device];
  if (!place) {
    place = device::make_device_log(session_, device, settings_);
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

std::shared_ptr<device::DeviceLog> Dumper::accelerator_log() {
  const std::lock_guard lock(mutex_);
  for (auto& [device, device_log] : logs_) {
    if (!device.is_cpu()) {
      return device_log;
    }
  }
  return nullptr;
}

void Dumper::stat(const at::Tensor& x, log::TagId tag) {
  const std::shared_ptr<device::DeviceLog> own = device_log(x.device());
  if (own == nullptr) {
    return;
  }
  const std::shared_ptr<device::DeviceLog> other = x.device().is_cpu() ? accelerator_log() : nullptr;
  if (other != nullptr) {
    other->keep(static_cast<device::CpuLog&>(*own).measure(x, tag));
  } else {
    own->stat(x, tag);
  }
}

void Dumper::enter() { session_->enter_forward(); }

// The thread leaves its forward last: until then close() frees nothing.
void Dumper::commit() {
  if (!session_->closed()) {
    const std::uint64_t forward = session_->next_forward();
    for (const auto& device_log : device_logs()) {
      device_log->commit(forward);
    }
  }
  session_->leave_forward();
}

void Dumper::abandon() {
  for (const auto& device_log : device_logs()) {
    device_log->abandon();
  }
  session_->leave_forward();
}

void Dumper::drain() {
  for (const auto& device_log : device_logs()) {
    device_log->drain();
  }
}

std::int64_t Dumper::write(const std::string& path) {
  const std::lock_guard lock(step_mutex_);
  drain();
  session_->throw_background_error();
  std::vector<log::Record> records = session_->host_log.take();
  try {
    return dump::write_dump_json(path, header_, records, *session_);
  } catch (...) {
    session_->host_log.put_back(std::move(records));
    throw;
  }
}

void Dumper::discard() {
  const std::lock_guard lock(step_mutex_);
  drain();
  session_->host_log.take();
  session_->throw_background_error();
}

bool Dumper::close() {
  session_->close();  // from here on no forward begins to record
  if (session_->any_in_forward()) {
    return false;
  }
  try {
    const std::lock_guard lock(step_mutex_);
    drain();
  } catch (const std::exception&) {
    return false;  // during a capture: the device cannot be waited for, and what is queued may still write
  }
  session_->host_log.take();
  const std::lock_guard lock(mutex_);
  const bool in_use = std::any_of(logs_.begin(), logs_.end(), [](const auto& log) { return log.second->holds_graphs(); });
  if (!in_use) {
    logs_.clear();
  }
  return !in_use;
}

Handle open_dumper(dump::DumpHeader header, const device::Settings& settings) {
  Table& all = table();
  auto dumper = std::make_shared<Dumper>(std::move(header), settings);
  const std::unique_lock lock(all.mutex);
  all.dumpers.push_back(std::move(dumper));
  return static_cast<Handle>(all.dumpers.size());
}

std::shared_ptr<Dumper> find_dumper(Handle handle) {
  Table& all = table();
  const std::shared_lock lock(all.mutex);
  if (handle < 1 || handle > static_cast<Handle>(all.dumpers.size())) {
    fail("msprobe: no dumper has the handle ", handle, ": handles come from AclGraphDumper.start() of this process");
  }
  return all.dumpers[static_cast<std::size_t>(handle - 1)];
}

void close_dumper(Handle handle) {
  const auto dumper = find_dumper(handle);
  if (dumper && dumper->close()) {
    Table& all = table();
    const std::unique_lock lock(all.mutex);
    all.dumpers[static_cast<std::size_t>(handle - 1)].reset();
  }
}

}  // namespace msprobe::ops

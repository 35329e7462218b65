// SPDX-License-Identifier: Apache-2.0
// Sessions, device logs and the table of handles.
#include "ops/dumper.h"

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

device::DeviceLog* Dumper::device_log(c10::Device device) {
  if (session_->closed()) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  auto& place = logs_[device];
  if (!place) {
    place = device::make_device_log(session_, device, settings_);
  }
  return place.get();
}

std::vector<device::DeviceLog*> Dumper::device_logs() {
  std::vector<device::DeviceLog*> all;
  const std::lock_guard lock(mutex_);
  for (auto& [device, device_log] : logs_) {
    all.push_back(device_log.get());
  }
  return all;
}

device::DeviceLog* Dumper::accelerator_log() {
  const std::lock_guard lock(mutex_);
  for (auto& [device, device_log] : logs_) {
    if (!device.is_cpu()) {
      return device_log.get();
    }
  }
  return nullptr;
}

void Dumper::stat(const at::Tensor& x, log::TagId tag) {
  device::DeviceLog* own = device_log(x.device());
  if (own == nullptr) {
    return;
  }
  device::DeviceLog* other = x.device().is_cpu() ? accelerator_log() : nullptr;
  if (other != nullptr) {
    other->keep(static_cast<device::CpuLog*>(own)->measure(x, tag));
  } else {
    own->stat(x, tag);
  }
}

void Dumper::enter() { session_->enter_forward(); }

void Dumper::commit() {
  session_->leave_forward();
  if (session_->closed()) {
    return;
  }
  const std::uint64_t forward = session_->next_forward();
  for (device::DeviceLog* device_log : device_logs()) {
    device_log->commit(forward);
  }
}

void Dumper::abandon() {
  session_->leave_forward();
  for (device::DeviceLog* device_log : device_logs()) {
    device_log->abandon();
  }
}

void Dumper::drain() {
  for (device::DeviceLog* device_log : device_logs()) {
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

void Dumper::close() {
  session_->close();
  session_->host_log.take();
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

void close_dumper(Handle handle) { find_dumper(handle)->close(); }

}  // namespace msprobe::ops

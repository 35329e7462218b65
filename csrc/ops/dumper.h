// SPDX-License-Identifier: Apache-2.0
// One AclGraphDumper's native half: its session and the logs of the devices its model uses. Operators find it by a number.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/device_log.h"
#include "dump/dump_json.h"
#include "log/session.h"

namespace msprobe::ops {

using Handle = std::int64_t;

class Dumper {
 public:
  Dumper(dump::DumpHeader header, const device::Settings& settings);

  // Null when the dumper is closed: operators in graphs captured before then do nothing.
  std::shared_ptr<device::DeviceLog> device_log(c10::Device device);

  // Takes the statistics of x. Host tensors are kept among those of the device that the dumper's model uses, if there is one: so that
  // the tensors of one call stay together, and stand in every replay.
  void stat(const at::Tensor& x, log::TagId tag);

  // A thread's outermost forward begins, ends, or raises. Ending commits what the thread has recorded, on whichever devices.
  void enter();
  void commit();
  void abandon();

  [[nodiscard]] log::Session& session() noexcept { return *session_; }

  // Brings everything recorded to the host, writes it and forgets it. On failure the records stay for the next call.
  std::int64_t write(const std::string& path);
  void discard();

  // Takes no more records. True if nothing of it is needed any more; false if captured graphs may still write to its memory.
  bool close();

 private:
  std::vector<std::shared_ptr<device::DeviceLog>> device_logs();
  std::shared_ptr<device::DeviceLog> accelerator_log();  // null: the model has only used the host
  void drain();

  dump::DumpHeader header_;
  device::Settings settings_;
  std::shared_ptr<log::Session> session_;
  std::mutex mutex_;  // guards logs_; the logs guard themselves
  std::map<c10::Device, std::shared_ptr<device::DeviceLog>, bool (*)(const c10::Device&, const c10::Device&)> logs_;
  std::mutex step_mutex_;  // one write or discard at a time
};

// Handles are positive and never used twice.
Handle open_dumper(dump::DumpHeader header, const device::Settings& settings);
// Null for one that was closed and is gone. Throws Error on a number that open_dumper never gave.
std::shared_ptr<Dumper> find_dumper(Handle handle);
void close_dumper(Handle handle);

}  // namespace msprobe::ops

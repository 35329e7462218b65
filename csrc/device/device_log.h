// SPDX-License-Identifier: Apache-2.0
// How the records of one dumper get from tensors of one device to the host log. One class a vendor; nothing else knows a vendor.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <functional>
#include <memory>

#include "device/export.h"
#include "device/settings.h"
#include "log/session.h"

namespace msprobe::device {

// Any thread may call any member. stat(), keep() and commit() are what the operators do when they run (at capture time: what they put
// into the graph); drain() belongs to step().
class MSPROBE_API DeviceLog {
 public:
  DeviceLog() = default;
  DeviceLog(const DeviceLog&) = delete;
  DeviceLog& operator=(const DeviceLog&) = delete;
  virtual ~DeviceLog() = default;

  // Takes the statistics of x now, or at every replay if the current stream is being captured. `record` is what is known of x without
  // them. If nothing is `recording`, only a capture takes it: its replays ask for themselves.
  virtual void stat(const at::Tensor& x, const log::Record& record, bool recording) = 0;

  // Takes a record whose numbers are known already: of a host tensor among this device's. In a capture it stands in every replay, as the
  // host's value does in the graph.
  virtual void keep(const log::Record& record, bool recording) = 0;

  // Brings what this thread has recorded since its last commit to the host log, in one transfer; captured like stat(). The number is
  // that of the forward which ends.
  virtual void commit(std::uint64_t forward) = 0;

  // A forward of this thread has raised: ends what it has recorded, as far as it ran.
  virtual void abandon() = 0;

  // Waits for the device and brings what was recorded to the host log, except what belongs to a forward that another thread is in the
  // middle of. Throws Error during a capture.
  virtual void drain() = 0;

  // Whether captured graphs may still write to this log's memory: then it must live as long as the process.
  [[nodiscard]] virtual bool holds_graphs() const = 0;

  // Makes room for the records of `sites` captured tensors before a capture begins.
  virtual void reserve(std::int64_t sites) = 0;
};

using DeviceLogFactory = std::function<std::shared_ptr<DeviceLog>(std::shared_ptr<log::Session>, c10::Device, const Settings&)>;

// A vendor's library registers itself when it is loaded.
MSPROBE_API void register_device(c10::DeviceType type, DeviceLogFactory factory);

// For a device whose library is not loaded: records shapes and dtypes, numbers null, with a note that says so.
std::shared_ptr<DeviceLog> make_device_log(std::shared_ptr<log::Session> session, c10::Device device, const Settings& settings);

}  // namespace msprobe::device

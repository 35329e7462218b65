// SPDX-License-Identifier: Apache-2.0
// One AclGraphDumper's native half: its session and the logs of the devices its model uses. Operators find it by a number.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/device_log.h"
#include "dump/dump_json.h"
#include "dump/tensor_log.h"
#include "log/session.h"
#include "ops/slices.h"

namespace msprobe::ops {

using Handle = std::int64_t;

struct DumperOptions {
  std::string level;     // "L0", "L1" or "mix"
  bool tensors = false;  // save them; else only their statistics
  log::Wanted wanted;
  std::vector<Slice> slices;
  device::Settings settings;
  std::string run;  // of dump::Run, what is the same in every step
};

struct NextStep {
  std::string folder;
  bool recording = true;
};

class Dumper {
 public:
  explicit Dumper(DumperOptions options);

  // Null when the dumper is closed: operators in graphs captured before then do nothing.
  std::shared_ptr<device::DeviceLog> device_log(c10::Device device);

  // Takes the statistics of x, or saves it. Host tensors are kept among those of the device that the dumper's model uses, if there is one: so that
  // the tensors of one call stay together, and stand in every replay.
  void stat(const at::Tensor& x, log::TagId tag);

  // A thread's outermost forward begins, ends, or raises. Ending commits what the thread has recorded, on whichever devices.
  void enter();
  void commit();
  void abandon();
  // The same as commit(), but the thread may be in the middle of its forward, which goes on.
  void commit_part();

  [[nodiscard]] log::Session& session() noexcept { return *session_; }

  // Where the first step is written.
  void set_folder(const std::string& folder);
  // Whether what runs from here on is recorded: graphs captured long ago ask at each replay.
  void set_recording(bool on) noexcept { session_->lanes.set_recording(on); }

  // Brings everything recorded to the host, writes it and forgets it. On failure the records stay for the next call, in this step.
  // `empty`: write the file even if nothing was recorded. What comes afterwards belongs to the next step. Returns the number of entries.
  std::int64_t write(bool empty, const NextStep& next);
  void discard();

  [[nodiscard]] const DumperOptions& options() const noexcept { return options_; }

  // Takes no more records. True if nothing of it is needed any more; false if captured graphs may still write to its memory.
  bool close();

 private:
  std::vector<std::shared_ptr<device::DeviceLog>> device_logs();
  std::optional<c10::Device> accelerator();  // that host tensors are used with; none: the model has only used the host
  void commit_logs();
  void drain();
  void save(const at::Tensor& x, const log::Record& record, const log::Lanes::Place& place);
  // The records of the step, after everything has arrived; those of parameters go to parameters_. With tensors: in a Pause.
  std::vector<log::Record> take();

  const DumperOptions options_;
  std::shared_ptr<log::Session> session_;
  std::shared_ptr<dump::TensorLog> tensors_;  // null: statistics only
  std::string folder_;                        // guarded by step_mutex_, like what follows
  dump::Parameters parameters_;
  std::mutex mutex_;  // guards logs_; the logs guard themselves
  std::map<c10::Device, std::shared_ptr<device::DeviceLog>, bool (*)(const c10::Device&, const c10::Device&)> logs_;
  std::mutex step_mutex_;  // one end of a step at a time
};

// Handles are positive and never used twice.
Handle open_dumper(DumperOptions options);
// Null for one that was closed and is gone. Throws Error on a number that open_dumper never gave.
std::shared_ptr<Dumper> find_dumper(Handle handle);
void close_dumper(Handle handle);
// In a forked child: the handle stands for a dumper that has recorded nothing yet. What the parent's threads hold locked is left alone.
void renew_dumper(Handle handle);

}  // namespace msprobe::ops

// SPDX-License-Identifier: Apache-2.0
// Announces the NPU to libmsprobe_ops.so when this library is loaded.
#include <memory>
#include <utility>

#include "device/device_log.h"
#include "device/npu_graph_ends.h"
#include "device/npu_log.h"
#include "device/npu_save.h"
#include "device/save_sink.h"

namespace msprobe::device::npu {
namespace {

const bool kRegistered = [] {
  register_device(c10::DeviceType::PrivateUse1,
                  [](std::shared_ptr<log::Session> session, c10::Device device, const Settings& settings) {
                    return std::make_shared<NpuLog>(std::move(session), device, settings);
                  });
  register_save(c10::DeviceType::PrivateUse1, &save_from_npu, &wait_for_device);
  return true;
}();

}  // namespace
}  // namespace msprobe::device::npu

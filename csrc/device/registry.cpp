// SPDX-License-Identifier: Apache-2.0
// Which vendor's library serves which device type.
#include <utility>

#include "device/by_type.h"
#include "device/cpu_log.h"
#include "device/device_log.h"

namespace msprobe::device {
namespace {

ByType<DeviceLogFactory>& factories() {
  static auto* all = new ByType<DeviceLogFactory>;
  return *all;
}

}  // namespace

void register_device(c10::DeviceType type, DeviceLogFactory factory) { factories().set(type, std::move(factory)); }

std::shared_ptr<DeviceLog> make_device_log(std::shared_ptr<log::Session> session, c10::Device device,
                                           const Settings& settings) {
  if (device.is_cpu()) {
    return std::make_unique<CpuLog>(std::move(session));
  }
  if (const DeviceLogFactory factory = factories().get(device.type())) {
    return factory(std::move(session), device, settings);
  }
  return std::make_unique<CpuLog>(std::move(session),
                                  "statistics of device '" + device.str() + "' are not supported by this build of msprobe");
}

}  // namespace msprobe::device

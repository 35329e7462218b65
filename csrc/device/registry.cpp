// SPDX-License-Identifier: Apache-2.0
// Which vendor's library serves which device type.
#include <array>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "device/cpu_log.h"
#include "device/device_log.h"

namespace msprobe::device {
namespace {

constexpr auto kDeviceTypes = static_cast<std::size_t>(c10::DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);

struct Factories {
  std::mutex mutex;
  std::array<DeviceLogFactory, kDeviceTypes> by_type;
};

Factories& factories() {
  static auto* all = new Factories;  // never destroyed: operators may run while the process is going down
  return *all;
}

}  // namespace

void register_device(c10::DeviceType type, DeviceLogFactory factory) {
  Factories& all = factories();
  const std::lock_guard lock(all.mutex);
  all.by_type[static_cast<std::size_t>(type)] = std::move(factory);
}

std::unique_ptr<DeviceLog> make_device_log(std::shared_ptr<log::Session> session, c10::Device device,
                                           const Settings& settings) {
  if (device.is_cpu()) {
    return std::make_unique<CpuLog>(std::move(session));
  }
  DeviceLogFactory factory;
  {
    Factories& all = factories();
    const std::lock_guard lock(all.mutex);
    factory = all.by_type[static_cast<std::size_t>(device.type())];
  }
  if (factory) {
    return factory(std::move(session), device, settings);
  }
  return std::make_unique<CpuLog>(std::move(session),
                                  "statistics of device '" + device.str() + "' are not supported by this build of msprobe");
}

}  // namespace msprobe::device

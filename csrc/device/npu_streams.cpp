// SPDX-License-Identifier: Apache-2.0
// Streams and events by torch's own guards.
#include "device/npu_streams.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace msprobe::device::npu {

c10::Stream torch_stream(c10::Device device) { return c10::impl::VirtualGuardImpl(device.type()).getStream(device); }

void join_streams(std::span<const c10::Stream> others, const c10::Stream& current) {
  for (const c10::Stream& other : others) {
    c10::Event event(current.device_type());
    event.record(other);
    event.block(current);
  }
}

}  // namespace msprobe::device::npu

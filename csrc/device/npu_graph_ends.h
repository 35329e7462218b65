// SPDX-License-Identifier: Apache-2.0
// Tells when a captured graph is gone, so that what its replays used can be given back.
#pragma once

#include <acl/acl.h>
#include <c10/core/Device.h>

#include <functional>

namespace msprobe::device::npu {

// Calls `release` once `graph`, which is being captured on `device`, has been destroyed and the device has been waited for since: CANN may
// destroy a graph whose last replay still runs. False, and never called, with a CANN that does not tell of it (before 9.0): then what
// replays use must live as long as the process. Thread-safe; `release` must not throw, and runs in wait_for_device().
bool at_graph_end(aclmdlRI graph, c10::Device device, std::function<void()> release);

// Waits for all work on the device, then releases what belongs to graphs that were gone before. Throws c10::Error during a capture.
void wait_for_device(c10::Device device);

}  // namespace msprobe::device::npu

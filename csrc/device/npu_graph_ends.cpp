// SPDX-License-Identifier: Apache-2.0
// One callback of CANN's a graph, and two lists: of graphs that live, and of what waits for the device.
#include "device/npu_graph_ends.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace msprobe::device::npu {
namespace {

using Release = std::function<void()>;

struct Live {
  c10::Device device;
  std::vector<Release> releases;
};

struct Ended {
  c10::Device device;
  Release release;
};

// Never destroyed: graphs may end after this library's statics.
struct Ends {
  std::mutex mutex;
  std::map<aclmdlRI, Live> live;
  std::vector<Ended> ended;

  // With mutex held.
  void end(std::map<aclmdlRI, Live>::iterator graph) {
    for (Release& release : graph->second.releases) {
      ended.push_back({graph->second.device, std::move(release)});
    }
    live.erase(graph);
  }
};

Ends& ends() {
  static auto* all = new Ends;
  return *all;
}

// Since CANN 9.0; torch_npu may run with an older one.
struct DestroyCalls {
  aclError (*add)(aclmdlRI, aclrtCallback, void*) = nullptr;
  aclError (*remove)(aclmdlRI, aclrtCallback) = nullptr;

  DestroyCalls()
      : add(reinterpret_cast<decltype(add)>(dlsym(RTLD_DEFAULT, "aclmdlRIDestroyRegisterCallback"))),
        remove(reinterpret_cast<decltype(remove)>(dlsym(RTLD_DEFAULT, "aclmdlRIDestroyUnregisterCallback"))) {}
};

const DestroyCalls& destroy_calls() {
  static const DestroyCalls calls;
  return calls;
}

// On the thread that destroys the graph, within CANN's call: nothing of the runtime may be called here.
void graph_destroyed(void* graph) {
  Ends& all = ends();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.live.find(static_cast<aclmdlRI>(graph)); found != all.live.end()) {
    all.end(found);
  }
}

}  // namespace

bool at_graph_end(aclmdlRI graph, c10::Device device, Release release) {
  const DestroyCalls& calls = destroy_calls();
  if (calls.add == nullptr || calls.remove == nullptr) {
    return false;
  }
  Ends& all = ends();
  // CANN's own lock is taken while ours is not: its callback takes them the other way round.
  const bool known = calls.remove(graph, &graph_destroyed) == ACL_SUCCESS;
  if (!known) {
    // A capture that failed ends without a callback, and CANN may give its handle to the next graph.
    const std::lock_guard lock(all.mutex);
    if (const auto stale = all.live.find(graph); stale != all.live.end()) {
      all.end(stale);
    }
  }
  if (calls.add(graph, &graph_destroyed, graph) != ACL_SUCCESS) {
    return false;
  }
  const std::lock_guard lock(all.mutex);
  all.live.try_emplace(graph, Live{device, {}}).first->second.releases.push_back(std::move(release));
  return true;
}

void wait_for_device(c10::Device device) {
  Ends& all = ends();
  std::vector<Release> releases;
  {
    const std::lock_guard lock(all.mutex);
    const auto mine =
        std::stable_partition(all.ended.begin(), all.ended.end(), [&](const Ended& one) { return one.device != device; });
    std::transform(mine, all.ended.end(), std::back_inserter(releases), [](Ended& one) { return std::move(one.release); });
    all.ended.erase(mine, all.ended.end());
  }
  try {
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
  } catch (...) {
    const std::lock_guard lock(all.mutex);
    for (Release& release : releases) {
      all.ended.push_back({device, std::move(release)});
    }
    throw;
  }
  for (const Release& release : releases) {
    release();
  }
}

}  // namespace msprobe::device::npu

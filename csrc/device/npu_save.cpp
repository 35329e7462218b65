// SPDX-License-Identifier: Apache-2.0
// The callback that copies a tensor to the host.
#include "device/npu_save.h"

#include <c10/core/DeviceGuard.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "device/npu_format.h"
#include "device/npu_graph_ends.h"
#include "device/npu_runtime.h"

namespace msprobe::device::npu {
namespace {

// What the callback needs. It holds an address, not a tensor: a tensor of a graph's pool must not be kept, and the stream stands still
// until the callback returns, so that what lies there cannot change.
struct Payload {
  std::unique_ptr<dump::SaveTarget> target;
  SavedTensor tensor;
  const void* device_data = nullptr;  // null: host_copy
  std::vector<std::byte> host_copy;   // of a host tensor: it goes through the stream, so that one order holds for all
  aclrtContext context = nullptr;
  bool captured = false;  // runs at every replay; else once, and frees itself

  void copy(std::byte* to) const {
    if (device_data == nullptr) {
      std::memcpy(to, host_copy.data(), host_copy.size());
      return;
    }
    check(aclrtSetCurrentContext(context), "aclrtSetCurrentContext");
    copy_to_host(to, device_data, tensor.bytes);
  }
};

// Payloads of captured saves live as long as their graph, or as the process where CANN does not tell of its end.
void keep(std::unique_ptr<Payload> payload, aclmdlRI graph, c10::Device device) {
  std::shared_ptr<Payload> kept = std::move(payload);
  if (!at_graph_end(graph, device, [kept] {})) {
    static_cast<void>(new std::shared_ptr<Payload>(std::move(kept)));
  }
}

// On CANN's callback thread, which has no current context and is shared by all streams of the device: no GIL, no other stream.
void run_callback(void* raw) noexcept {
  auto* payload = static_cast<Payload*>(raw);
  save_once(*payload->target, payload->tensor, [&](std::byte* to) { payload->copy(to); });
  if (!payload->captured) {
    delete payload;
  }
}

void queue(std::unique_ptr<Payload> payload, aclmdlRI graph, c10::Device device) {
  queue_host_function(&run_callback, payload.get(), current_stream_for_work());
  if (graph != nullptr) {
    keep(std::move(payload), graph, device);
  } else {
    static_cast<void>(payload.release());  // run_callback frees it
  }
}

}  // namespace

void save_from_npu(const at::Tensor& x, c10::Device device, MakeTarget make_target) {
  const c10::DeviceGuard guard(device);
  aclmdlRI graph = capturing(current_stream());
  const bool captured = graph != nullptr;
  std::unique_ptr<dump::SaveTarget> target = make_target(captured);
  if (!captured && !target->wanted()) {
    return;
  }
  at::Tensor plain = x.resolve_conj().resolve_neg();
  plain = (x.is_cpu() ? plain : in_plain_format(plain)).contiguous();
  auto payload = std::make_unique<Payload>();
  payload->target = std::move(target);
  payload->tensor = describe_saved(plain);
  payload->captured = captured;
  if (x.is_cpu()) {
    const auto* first = static_cast<const std::byte*>(plain.const_data_ptr());
    payload->host_copy.assign(first, first + plain.nbytes());
  } else {
    payload->device_data = plain.const_data_ptr();
    check(aclrtGetCurrentContext(&payload->context), "aclrtGetCurrentContext");
  }
  queue(std::move(payload), graph, device);
}

}  // namespace msprobe::device::npu

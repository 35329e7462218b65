// SPDX-License-Identifier: Apache-2.0
// The callback that copies a tensor to the host.
#include "device/npu_save.h"

#include <c10/core/DeviceGuard.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device/npu_format.h"
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

// Payloads of captured saves: graphs may replay as long as the process lives.
void keep(std::unique_ptr<Payload> payload) {
  static auto* mutex = new std::mutex;
  static auto* kept = new std::vector<std::unique_ptr<Payload>>;
  const std::lock_guard lock(*mutex);
  kept->push_back(std::move(payload));
}

// On CANN's callback thread, which has no current context and is shared by all streams of the device: no GIL, no other stream.
void run_callback(void* raw) noexcept {
  auto* payload = static_cast<Payload*>(raw);
  save_once(*payload->target, payload->tensor, [&](std::byte* to) { payload->copy(to); });
  if (!payload->captured) {
    delete payload;
  }
}

void queue(std::unique_ptr<Payload> payload) {
  queue_host_function(&run_callback, payload.get(), current_stream_for_work());
  if (payload->captured) {
    keep(std::move(payload));
  } else {
    static_cast<void>(payload.release());  // run_callback frees it
  }
}

}  // namespace

void save_from_npu(const at::Tensor& x, c10::Device device, MakeTarget make_target) {
  const c10::DeviceGuard guard(device);
  const bool captured = capturing(current_stream()) != nullptr;
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
  queue(std::move(payload));
}

}  // namespace msprobe::device::npu

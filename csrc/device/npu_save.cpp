// SPDX-License-Identifier: Apache-2.0
// The callback that copies a tensor to the host.
#include "device/npu_save.h"

#include <c10/core/DeviceGuard.h>

#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/npu_format.h"
#include "device/npu_runtime.h"
#include "device/save_sink.h"
#include "device/tensor_facts.h"

namespace msprobe::device::npu {
namespace {

// What the callback needs. It holds an address, not a tensor: a tensor of a graph's pool must not be kept, and the stream stands still
// until the callback returns, so that what lies there cannot change.
struct Payload {
  std::string base;
  DType dtype = DType::kUnknown;
  std::vector<std::int64_t> sizes;
  const void* device_data = nullptr;
  std::size_t bytes = 0;
  aclrtContext context = nullptr;
  bool captured = false;  // runs at every replay; else once, and frees itself
};

// Payloads of captured saves: graphs may replay as long as the process lives.
void keep(std::unique_ptr<Payload> payload) {
  static auto* mutex = new std::mutex;
  static auto* kept = new std::vector<std::unique_ptr<Payload>>;
  const std::lock_guard lock(*mutex);
  kept->push_back(std::move(payload));
}

void copy_and_push(const Payload& payload) {
  dump::SaveJob job;
  job.path = next_save_path(payload.base);
  job.dtype = payload.dtype;
  job.sizes = payload.sizes;
  job.bytes = payload.bytes;
  if (!acquire_save_room(job.bytes, job.path)) {  // waits: this is how a slow disk slows the replay
    return;
  }
  try {
    job.data = allocate_save_buffer(job.bytes);
    if (job.bytes > 0) {
      check(aclrtSetCurrentContext(payload.context), "aclrtSetCurrentContext");
      copy_to_host(job.data.get(), payload.device_data, job.bytes);
    }
  } catch (const std::exception& error) {
    give_up_save(job.bytes, "cannot save '" + job.path + "': " + error.what());
    return;
  }
  push_save(std::move(job));
}

// On CANN's callback thread, which has no current context and is shared by all streams of the device: no GIL, no other stream.
void run_callback(void* raw) noexcept {
  auto* payload = static_cast<Payload*>(raw);
  try {
    copy_and_push(*payload);
  } catch (const std::exception& error) {
    give_up_save(0, std::string("cannot save under '") + payload->base + "': " + error.what());
  }
  if (!payload->captured) {
    delete payload;
  }
}

}  // namespace

void save_from_npu(const at::Tensor& x, const std::string& base) {
  const c10::DeviceGuard guard(x.device());
  const at::Tensor plain = in_plain_format(x.resolve_conj().resolve_neg()).contiguous();
  auto payload = std::make_unique<Payload>();
  payload->base = base;
  payload->dtype = dtype_of(plain.scalar_type());
  payload->sizes = plain.sizes().vec();
  payload->device_data = plain.const_data_ptr();
  payload->bytes = plain.nbytes();
  check(aclrtGetCurrentContext(&payload->context), "aclrtGetCurrentContext");
  payload->captured = capturing(current_stream()) != nullptr;
  queue_host_function(&run_callback, payload.get(), current_stream_for_work());
  if (payload->captured) {
    keep(std::move(payload));
  } else {
    static_cast<void>(payload.release());  // run_callback frees it
  }
}

}  // namespace msprobe::device::npu

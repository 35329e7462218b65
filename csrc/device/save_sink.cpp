// SPDX-License-Identifier: Apache-2.0
// Saving: the process's queue, the host's own tensors, and which library saves which device's.
#include "device/save_sink.h"

#include <ATen/ops/zeros.h>

#include <cstring>
#include <exception>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "device/by_type.h"
#include "device/tensor_facts.h"
#include "dump/saver.h"

namespace msprobe::device {
namespace {

struct Ways {
  SaveFunction save;
  WaitFunction wait;
};

ByType<Ways>& ways() {
  static auto* all = new ByType<Ways>;
  return *all;
}

}  // namespace

SavedTensor describe_saved(const at::Tensor& plain) {
  return {dtype_of(plain.scalar_type()), plain.sizes().vec(), plain.nbytes()};
}

void save_once(dump::SaveTarget& target, const SavedTensor& tensor, c10::function_ref<void(std::byte* to)> copy) noexcept {
  dump::SaveQueue& queue = dump::Saver::instance().queue();
  std::optional<dump::SaveTicket> ticket;
  try {
    ticket = target.begin();
    if (!ticket) {
      return;
    }
    ticket->job.dtype = tensor.dtype;
    ticket->job.sizes = tensor.sizes;
  } catch (const std::exception& error) {  // out of memory
    queue.lose({}, std::string("cannot save a tensor: ") + error.what());
    return;
  }
  dump::SaveJob& job = ticket->job;
  job.bytes = tensor.bytes;
  if (!queue.acquire(job)) {  // waits: this is how a slow disk slows the replay
    return;
  }
  try {
    job.data = queue.allocate(job.bytes);
    if (job.bytes > 0) {
      copy(job.data.get());
    }
  } catch (const std::exception& error) {
    job.data.reset();
    queue.give_up(job, "cannot save '" + job.path + "': " + error.what());
    return;
  }
  queue.push(std::move(job));
}

void save_from_host(const at::Tensor& x, dump::SaveTarget& target) {
  if (!target.wanted()) {
    return;
  }
  const at::Tensor plain = x.resolve_conj().resolve_neg().contiguous();
  save_once(target, describe_saved(plain), [&](std::byte* to) { std::memcpy(to, plain.const_data_ptr(), plain.nbytes()); });
}

void register_save(c10::DeviceType type, SaveFunction save, WaitFunction wait) {
  ways().set(type, {std::move(save), std::move(wait)});
}

void wait_for_saves(c10::Device device) {
  const WaitFunction wait = ways().get(device.type()).wait;
  if (!wait) {
    fail("device '", device.str(), "' has no library of msprobe: nothing can be saved from it");
  }
  wait(device);
}

std::string why_not_saved(const at::Tensor& x) {
  if (dtype_of(x.scalar_type()) == DType::kUnknown || x.layout() != at::kStrided || x.is_nested()) {
    std::ostringstream text;
    text << "it must be a dense tensor of a plain dtype, got " << (x.is_nested() ? "a nested tensor, " : "") << "dtype "
         << c10::toString(x.scalar_type()) << ", layout " << x.layout();
    return text.str();
  }
  return x._is_zerotensor() || has_memory(x) ? "" : "its memory has been freed";
}

void save_tensor(const at::Tensor& x, std::optional<c10::Device> with, MakeTarget make_target) {
  if (x._is_zerotensor()) {  // of forward-mode AD: stands for zeros without memory
    save_tensor(at::zeros(x.sizes(), x.options()), with, make_target);
    return;
  }
  const c10::Device device = with.value_or(x.device());
  if (device.is_cpu()) {
    save_from_host(x, *make_target(false));
    return;
  }
  const SaveFunction save = ways().get(device.type()).save;
  if (!save) {
    fail("tensors of device '", device.str(), "' cannot be saved by this build of msprobe: move them to the CPU first");
  }
  save(x, device, make_target);
}

}  // namespace msprobe::device

// SPDX-License-Identifier: Apache-2.0
// Saving: the process's queue, the host's own tensors, and which library saves which device's.
#include "device/save_sink.h"

#include <ATen/ops/zeros.h>

#include <cstring>
#include <utility>

#include "base/error.h"
#include "device/by_type.h"
#include "device/tensor_facts.h"
#include "dump/saver.h"

namespace msprobe::device {
namespace {

ByType<SaveFunction>& save_functions() {
  static auto* all = new ByType<SaveFunction>;
  return *all;
}

void save_from_host(const at::Tensor& x, const std::string& base) {
  const at::Tensor plain = x.resolve_conj().resolve_neg().contiguous();
  dump::SaveJob job;
  job.path = next_save_path(base);
  job.dtype = dtype_of(plain.scalar_type());
  job.sizes = plain.sizes().vec();
  job.bytes = plain.nbytes();
  if (!acquire_save_room(job.bytes, job.path)) {
    return;
  }
  try {
    job.data = allocate_save_buffer(job.bytes);
  } catch (const std::bad_alloc&) {
    give_up_save(job.bytes, "no memory to save '" + job.path + "'");
    return;
  }
  if (job.bytes > 0) {
    std::memcpy(job.data.get(), plain.const_data_ptr(), job.bytes);
  }
  push_save(std::move(job));
}

}  // namespace

std::string next_save_path(const std::string& base) { return dump::Saver::instance().next_path(base); }

bool acquire_save_room(std::size_t bytes, const std::string& path) {
  return dump::Saver::instance().queue().acquire(bytes, path);
}

dump::SaveBuffer allocate_save_buffer(std::size_t bytes) { return dump::Saver::instance().queue().allocate(bytes); }

void push_save(dump::SaveJob job) { dump::Saver::instance().queue().push(std::move(job)); }

void give_up_save(std::size_t bytes, std::string message) {
  dump::Saver::instance().queue().give_up(bytes, std::move(message));
}

void register_save(c10::DeviceType type, SaveFunction save) { save_functions().set(type, std::move(save)); }

void save_tensor(const at::Tensor& x, const std::string& base) {
  if (dtype_of(x.scalar_type()) == DType::kUnknown || x.layout() != at::kStrided || x.is_nested()) {
    fail("acl_save: x must be a dense tensor of a plain dtype, got dtype ", c10::toString(x.scalar_type()), ", layout ",
         x.layout(), ": convert it first");
  }
  if (x._is_zerotensor()) {  // of forward-mode AD: stands for zeros without memory
    save_tensor(at::zeros(x.sizes(), x.options()), base);
    return;
  }
  if (!has_memory(x)) {
    fail("acl_save: x has no values: its memory has been freed");
  }
  if (x.device().is_cpu()) {
    save_from_host(x, base);
    return;
  }
  const SaveFunction save = save_functions().get(x.device().type());
  if (!save) {
    fail("acl_save: device '", x.device().str(),
         "' is not supported by this build of msprobe: move the tensor to the CPU first");
  }
  save(x, base);
}

}  // namespace msprobe::device

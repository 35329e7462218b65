// SPDX-License-Identifier: Apache-2.0
// Statistics of host tensors by the kernels of csrc/stats, on torch's own threads.
#include "device/cpu_log.h"

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/resolve_neg.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/tensor_facts.h"
#include "stats/partial.h"
#include "stats/stats.h"

namespace msprobe::device {
namespace {

// Calls `work` with each number below `count`, on torch's threads. (at::parallel_for is code in a header: in a library that is not built
// with torch's OpenMP it makes no threads, and one that is would bring a second OpenMP. Torch's iterators have theirs inside.)
void for_each_number(std::int64_t count, c10::function_ref<void(std::int64_t number)> work) {
  std::vector<std::uint8_t> marks(static_cast<std::size_t>(count));  // their addresses are the numbers
  const auto* first = reinterpret_cast<const char*>(marks.data());
  at::Tensor numbers = at::from_blob(marks.data(), {count}, at::kByte);
  at::TensorIterator::nullary_op(numbers).for_each(
      [&](char** data, const std::int64_t* strides, std::int64_t inner, std::int64_t outer) {
        for (std::int64_t i = 0; i < inner * outer; ++i) {
          work(data[0] + i % inner * strides[0] + i / inner * strides[1] - first);
        }
      },
      1);
}

// Below this many blocks one thread is faster than waking others.
constexpr std::int64_t kMinParallelBlocks = 8;

stats::Stats compute(const stats::TensorView& view) {
  const std::int64_t blocks = stats::num_blocks(view);
  if (blocks < kMinParallelBlocks || at::get_num_threads() == 1 || at::in_parallel_region()) {
    return stats::compute(view);
  }
  std::vector<stats::Partial> partials(static_cast<std::size_t>(blocks));
  for_each_number(blocks,
                  [&](std::int64_t block) { stats::accumulate_block(view, block, partials[static_cast<std::size_t>(block)]); });
  for (std::int64_t block = 1; block < blocks; ++block) {
    stats::merge(partials.front(), partials[static_cast<std::size_t>(block)]);
  }
  return stats::finish(partials.front());
}

bool is_plain_host_tensor(const at::Tensor& x) {
  return x.device().is_cpu() && x.layout() == at::kStrided && x.has_storage() && !x.is_quantized() && !x.is_nested();
}

}  // namespace

log::Record CpuLog::measure(const at::Tensor& x, log::Record record) {
  if (note_ != log::kNoNote) {
    record.note = note_;
  } else if (!is_plain_host_tensor(x)) {
    record.note = session_->notes.intern(std::string("no statistics for a tensor that is ") +
                                         (x.is_quantized() ? "quantised" : "not strided"));
  } else if (record.dtype != DType::kUnknown && !x._is_zerotensor() && !has_memory(x)) {
    record.note = session_->notes.intern(std::string("no statistics: the tensor's memory has been freed"));
  } else if (record.dtype != DType::kUnknown) {
    // Forward-mode AD has tensors that stand for zeros. A lazily negated tensor is negated; a conjugated one has the same magnitudes.
    const at::Tensor plain = x._is_zerotensor() ? at::zeros(x.sizes(), x.options()) : x.is_neg() ? at::resolve_neg(x) : x;
    record.stats = compute({plain.const_data_ptr(), record.dtype, plain.sizes(), plain.strides()});
    record.has_counts = record.stats.count > 0;
  }
  return record;
}

void CpuLog::stat(const at::Tensor& x, const log::Record& record, bool recording) {
  if (recording) {
    keep(measure(x, record), recording);
  }
}

void CpuLog::keep(const log::Record& record, bool recording) {
  if (recording) {
    const std::lock_guard lock(mutex_);
    pending_[std::this_thread::get_id()].push_back(record);
  }
}

void CpuLog::commit(std::uint64_t forward) {
  const std::lock_guard lock(mutex_);
  if (const auto mine = pending_.find(std::this_thread::get_id()); mine != pending_.end()) {
    session_->host_log.append(mine->second, {forward, 0});
    pending_.erase(mine);
  }
}

void CpuLog::abandon() { commit(session_->lanes.fresh_forward()); }

void CpuLog::drain() {
  const std::lock_guard lock(mutex_);
  for (auto place = pending_.begin(); place != pending_.end();) {
    const auto& [thread, records] = *place;
    if (thread != std::this_thread::get_id() && session_->lanes.busy(thread)) {
      ++place;
    } else {
      session_->host_log.append(records);
      place = pending_.erase(place);
    }
  }
}

}  // namespace msprobe::device

// SPDX-License-Identifier: Apache-2.0
// Statistics of host tensors by the kernels of csrc/stats, on torch's own threads.
#include "device/cpu_log.h"

#include <ATen/Parallel.h>
#include <ATen/ops/resolve_neg.h>

#include <array>
#include <utility>

#include "device/tensor_facts.h"
#include "stats/partial.h"
#include "stats/stats.h"

namespace msprobe::device {
namespace {

// Below this many blocks one thread is faster than waking others.
constexpr std::int64_t kMinParallelBlocks = 8;

stats::Stats compute(const stats::TensorView& view) {
  const std::int64_t blocks = stats::num_blocks(view);
  if (blocks < kMinParallelBlocks || at::get_num_threads() == 1 || at::in_parallel_region()) {
    return stats::compute(view);
  }
  std::vector<stats::Partial> partials(static_cast<std::size_t>(blocks));
  at::parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      stats::accumulate_block(view, block, partials[static_cast<std::size_t>(block)]);
    }
  });
  for (std::int64_t block = 1; block < blocks; ++block) {
    stats::merge(partials.front(), partials[static_cast<std::size_t>(block)]);
  }
  return stats::finish(partials.front());
}

bool has_host_memory(const at::Tensor& x) {
  return x.device().is_cpu() && x.layout() == at::kStrided && x.has_storage() && !x.is_quantized() && !x.is_nested();
}

}  // namespace

void CpuLog::stat(const at::Tensor& x, log::TagId tag) {
  log::Record record = describe(x, tag, *session_);
  if (note_ != log::kNoNote) {
    record.note = note_;
  } else if (!has_host_memory(x)) {
    record.note = session_->notes.intern(std::string("no statistics for a tensor that is ") +
                                         (x.is_quantized() ? "quantised" : "not strided"));
  } else if (record.dtype != DType::kUnknown) {
    const at::Tensor plain = x.is_neg() ? at::resolve_neg(x) : x;  // a lazily conjugated one has the same magnitudes
    record.stats = compute({plain.const_data_ptr(), record.dtype, plain.sizes(), plain.strides()});
    record.has_counts = record.stats.count > 0;
  }
  const log::Tag& parsed = session_->tags[tag];
  const std::lock_guard lock(mutex_);
  Pending& mine = pending_[std::this_thread::get_id()];
  mine.records.push_back(record);
  mine.open_calls += static_cast<int>(parsed.opens_call) - static_cast<int>(parsed.closes_call);
}

void CpuLog::flush(Pending& pending) {
  session_->host_log.append(pending.records);
  pending.records.clear();
  pending.open_calls = 0;
}

void CpuLog::commit() {
  const std::lock_guard lock(mutex_);
  if (const auto mine = pending_.find(std::this_thread::get_id()); mine != pending_.end()) {
    flush(mine->second);
  }
}

void CpuLog::drain() {
  const std::lock_guard lock(mutex_);
  // Another thread in the middle of a forward keeps its records: they belong together in the step in which its forward ends.
  for (auto place = pending_.begin(); place != pending_.end();) {
    if (place->first == std::this_thread::get_id() || place->second.open_calls <= 0) {
      flush(place->second);
      place = pending_.erase(place);
    } else {
      ++place;
    }
  }
}

}  // namespace msprobe::device

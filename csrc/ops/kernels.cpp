// SPDX-License-Identifier: Apache-2.0
// What the operators do when they run: find the dumper, then the log of the tensor's device.
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "device/save_sink.h"
#include "dump/saver.h"
#include "ops/dumper.h"

namespace msprobe::ops {
namespace {

// Whether this thread is in a backward. A forward that runs there is one that activation checkpointing computes again: it has been
// recorded already. Hooks in eager code pass over it by themselves; a compiled region holds the operators and may be run again as a whole.
bool in_backward() { return torch::autograd::get_current_graph_task_id() != -1; }

void stat(const at::Tensor& x, const at::Tensor& /*token*/, std::int64_t handle, std::string_view tag) {
  if (x.is_meta()) {
    return;  // tracing with fake tensors: there are no numbers
  }
  if (in_backward()) {
    return;
  }
  const auto dumper = find_dumper(handle);
  if (dumper == nullptr) {
    return;  // closed; the graph or trace that this is in goes on
  }
  const at::AutoDispatchBelowADInplaceOrView below_autograd;  // the reductions write with out=, which autograd would refuse
  dumper->stat(x, dumper->session().tags.intern(tag));
}

// Nothing in a trace with fake tensors, nor once the dumper is closed.
void call_dumper(const at::Tensor& token, std::int64_t handle, void (Dumper::*member)()) {
  if (token.is_meta()) {
    return;
  }
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (const auto dumper = find_dumper(handle)) {
    (*dumper.*member)();
  }
}

void commit(const at::Tensor& token, std::int64_t handle) { call_dumper(token, handle, &Dumper::commit); }

void commit_part(const at::Tensor& token, std::int64_t handle) { call_dumper(token, handle, &Dumper::commit_part); }

void save(const at::Tensor& x, const at::Tensor& /*token*/, std::string_view base) {
  if (x.is_meta()) {
    return;
  }
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (const std::string reason = device::why_not_saved(x); !reason.empty()) {
    fail("acl_save: x has no values to save: ", reason);
  }
  device::save_tensor(x.detach(), std::nullopt, [&](bool /*captured*/) { return dump::Saver::numbered(std::string(base)); });
}

}  // namespace
}  // namespace msprobe::ops

// One kernel for every back end, sparse and quantised ones included: the device is looked up, not dispatched on, so that a tensor of a
// kind without statistics is recorded as such and never fails the model.
TORCH_LIBRARY_IMPL(msprobe, CompositeExplicitAutograd, m) {
  m.impl("stat_", &msprobe::ops::stat);
  m.impl("commit_", &msprobe::ops::commit);
  m.impl("commit_part_", &msprobe::ops::commit_part);
  m.impl("save_", &msprobe::ops::save);
}

// Strided nested tensors (the fast path of nn.TransformerEncoder makes them) are not among those back ends.
TORCH_LIBRARY_IMPL(msprobe, CompositeImplicitAutogradNestedTensor, m) {
  m.impl("stat_", &msprobe::ops::stat);
  m.impl("save_", &msprobe::ops::save);
}

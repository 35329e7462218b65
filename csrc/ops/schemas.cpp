// SPDX-License-Identifier: Apache-2.0
// The operators that msprobe puts into a graph, all schemas in one place.
//
// Common to all: `token` is a one-element tensor on the device of x whose content means nothing. Its declared mutation keeps the
// operator in a compiled graph and in order; an operator without output and without mutation would be dropped in silence. The
// memory of the results belongs to the dumper, which the operator finds by `handle`. x is never changed, nothing is returned, no
// gradient passes: autograd, autocast and version counting are fallen through.
#include <torch/library.h>

TORCH_LIBRARY(msprobe, m) {
  // Takes the statistics of x (any dtype, layout, strides, size; any device). `tag` says whose they are (csrc/log/tag.h).
  // Allocates nothing on the CPU; on an NPU only what the reductions need as workspace.
  m.def("stat_(Tensor x, Tensor(a!) token, int handle, str tag) -> ()", {at::Tag::pt2_compliant_tag});

  // Ends a forward: brings what was recorded on this thread since the last commit to the host, in one transfer a device. The token's
  // device decides nothing but where a compiler may put the operator.
  m.def("commit_(Tensor(a!) token, int handle) -> ()", {at::Tag::pt2_compliant_tag});

  // Ends a part of a forward, in the same way: a compiled region, or what ran eagerly before one. If the thread is in no eager forward it
  // ends the whole.
  m.def("commit_part_(Tensor(a!) token, int handle) -> ()", {at::Tag::pt2_compliant_tag});

  // Saves x to `{base}_{seq}.pt`, seq counting up at every execution. x: dense, of a plain dtype; copied off its device before what
  // follows in its stream can change it, and written by other threads.
  m.def("save_(Tensor x, Tensor(a!) token, str base) -> ()", {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(msprobe, Autograd, m) {
  m.impl("stat_", torch::CppFunction::makeFallthrough());
  m.impl("commit_", torch::CppFunction::makeFallthrough());
  m.impl("commit_part_", torch::CppFunction::makeFallthrough());
  m.impl("save_", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(msprobe, ADInplaceOrView, m) {
  m.impl("stat_", torch::CppFunction::makeFallthrough());
  m.impl("commit_", torch::CppFunction::makeFallthrough());
  m.impl("commit_part_", torch::CppFunction::makeFallthrough());
  m.impl("save_", torch::CppFunction::makeFallthrough());
}

// SPDX-License-Identifier: Apache-2.0
// Joining, repeating, turning and padding: elements move, their values stay.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

// Tensors of one type with `out` are moved as they are; mixed ones are converted by ATen.
bool all_of_type(Tensors tensors, at::ScalarType type) {
  return std::all_of(tensors.begin(), tensors.end(), [type](const at::Tensor& item) { return item.scalar_type() == type; });
}

}  // namespace

HOSTNPU_OPERATOR(Cat, (Tensors tensors, int64_t dim, Out out)) {
  const bool moves = all_of_type(tensors, out.scalar_type());
  at::Tensor target = moves ? movable(out) : out;
  at::cat_out(target, moves ? movable(tensors) : tensors, dim);
}
HOSTNPU_OPERATOR(Stack, (Tensors tensors, int64_t dim, Out out)) {
  const bool moves = all_of_type(tensors, out.scalar_type());
  at::Tensor target = moves ? movable(out) : out;
  at::stack_out(target, moves ? movable(tensors) : tensors, dim);
}
HOSTNPU_OPERATOR(Repeat, (In self, Ints repeats, Out out)) { store(movable(out), movable(self).repeat(repeats)); }
HOSTNPU_OPERATOR(RepeatInterleaveIntWithDim, (In self, int64_t repeats, int64_t dim, int64_t /*output_size*/, Out out)) {
  store(movable(out), at::repeat_interleave(movable(self), repeats, dim));
}
HOSTNPU_OPERATOR(RepeatInterleaveInt, (In self, int64_t repeats, int64_t /*output_size*/, Out out)) {
  store(movable(out), at::repeat_interleave(movable(self), repeats));
}
HOSTNPU_OPERATOR(RepeatInterleave, (In self, In repeats, int64_t output_size, Out out)) {
  store(movable(out), at::repeat_interleave(movable(self), repeats, std::nullopt, output_size));
}
HOSTNPU_OPERATOR(RepeatInterleaveWithDim, (In self, In repeats, int64_t dim, int64_t output_size, Out out)) {
  store(movable(out), at::repeat_interleave(movable(self), repeats, dim, output_size));
}
HOSTNPU_OPERATOR(Roll, (In self, Ints shifts, Ints dims, Out out)) {
  store(movable(out), at::roll(movable(self), shifts, dims));
}
HOSTNPU_OPERATOR(Flip, (In self, Ints dims, Out out)) { store(movable(out), at::flip(movable(self), dims)); }
HOSTNPU_OPERATOR(ConstantPadNd, (In self, Ints padding, Number value, Out out)) {
  store(out, at::constant_pad_nd(self, padding, value));
}

}  // namespace hostnpu

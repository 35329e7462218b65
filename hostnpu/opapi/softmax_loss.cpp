// SPDX-License-Identifier: Apache-2.0
// Softmax and the losses, with their backwards.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {

HOSTNPU_OPERATOR(Softmax, (In self, int64_t dim, Out out)) { at::softmax_out(out, self, dim, out.scalar_type()); }
HOSTNPU_OPERATOR(LogSoftmax, (In self, int64_t dim, Out out)) { at::log_softmax_out(out, self, dim, out.scalar_type()); }
HOSTNPU_OPERATOR(SoftmaxBackward, (In gradient, In output, int64_t dim, Out out)) {
  at::_softmax_backward_data_out(out, gradient, output, dim, output.scalar_type());
}
HOSTNPU_OPERATOR(LogSoftmaxBackward, (In gradient, In output, int64_t dim, Out out)) {
  at::_log_softmax_backward_data_out(out, gradient, output, dim, output.scalar_type());
}

// `reduction`: 0 none, 1 mean, 2 sum, as in ATen.
HOSTNPU_OPERATOR(NLLLoss,
                 (In self, In target, OptionalIn weight, int64_t reduction, int64_t ignore_index, Out out, Out total_weight)) {
  const auto [loss, total] = at::nll_loss_forward(self, as_long(target), weight, reduction, ignore_index);
  store_flat(out, loss);
  store_flat(total_weight, total);
}
HOSTNPU_OPERATOR(NLLLossBackward, (In gradient, In self, In target, OptionalIn weight, int64_t reduction, int64_t ignore_index,
                                   In total_weight, Out out)) {
  const at::Tensor total = total_weight.reshape({});
  const at::Tensor upstream = reduction == at::Reduction::None ? gradient : gradient.reshape({});
  store(out, at::nll_loss_backward(upstream, self, as_long(target), weight, reduction, ignore_index, total));
}

HOSTNPU_OPERATOR(MseLoss, (In self, In target, int64_t reduction, Out out)) {
  store_flat(out, at::mse_loss(self, target, reduction));
}
HOSTNPU_OPERATOR(MseLossBackward, (In gradient, In self, In target, int64_t reduction, Out out)) {
  at::mse_loss_backward_out(out, gradient, self, target, reduction);
}
HOSTNPU_OPERATOR(SmoothL1Loss, (In self, In target, int64_t reduction, float beta, Out out)) {
  store_flat(out, at::smooth_l1_loss(self, target, reduction, beta));
}
HOSTNPU_OPERATOR(KlDiv, (In self, In target, int64_t reduction, bool log_target, Out out)) {
  store_flat(out, at::kl_div(self, target, reduction, log_target));
}
HOSTNPU_OPERATOR(BinaryCrossEntropyWithLogits,
                 (In self, In target, OptionalIn weight, OptionalIn positive_weight, int64_t reduction, Out out)) {
  store_flat(out, at::binary_cross_entropy_with_logits(self, target, weight, positive_weight, reduction));
}

}  // namespace hostnpu

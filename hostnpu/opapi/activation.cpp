// SPDX-License-Identifier: Apache-2.0
// Activation functions and their backwards.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {

HOSTNPU_OPERATOR(Relu, (In self, Out out)) { at::clamp_min_out(out, self, 0); }
HOSTNPU_OPERATOR(InplaceRelu, (Out self)) { at::clamp_min_out(self, self, 0); }
HOSTNPU_OPERATOR(ThresholdBackward, (In gradient, In self, Number threshold, Out out)) {
  at::threshold_backward_out(out, gradient, self, threshold);
}

HOSTNPU_OPERATOR(Sigmoid, (In self, Out out)) { at::sigmoid_out(out, self); }
HOSTNPU_OPERATOR(InplaceSigmoid, (Out self)) { at::sigmoid_out(self, self); }
HOSTNPU_OPERATOR(SigmoidBackward, (In gradient, In output, Out out)) { at::sigmoid_backward_out(out, gradient, output); }
HOSTNPU_OPERATOR(TanhBackward, (In gradient, In output, Out out)) { at::tanh_backward_out(out, gradient, output); }

HOSTNPU_OPERATOR(Silu, (In self, Out out)) { at::silu_out(out, self); }
HOSTNPU_OPERATOR(SiluBackward, (In gradient, In self, Out out)) { at::silu_backward_out(out, gradient, self); }

// CANN's Gelu is the tanh approximation, and torch_npu calls it whatever `approximate` says.
HOSTNPU_OPERATOR(Gelu, (In self, Out out)) { at::gelu_out(out, self, "tanh"); }
HOSTNPU_OPERATOR(GeluBackward, (In gradient, In self, Out out)) { at::gelu_backward_out(out, gradient, self, "tanh"); }
// 0: the exact one, by erf; 1: the tanh approximation.
HOSTNPU_OPERATOR(GeluV2, (In self, int64_t approximate, Out out)) {
  at::gelu_out(out, self, approximate == 0 ? "none" : "tanh");
}

HOSTNPU_OPERATOR(GeluBackwardV2, (In gradient, In self, Text approximate, Out out)) {
  at::gelu_backward_out(out, gradient, self, approximate);
}

HOSTNPU_OPERATOR(LeakyRelu, (In self, Number slope, Out out)) { at::leaky_relu_out(out, self, slope); }
HOSTNPU_OPERATOR(InplaceLeakyRelu, (Out self, Number slope)) { at::leaky_relu_out(self, self, slope); }
HOSTNPU_OPERATOR(LeakyReluBackward, (In gradient, In self, Number slope, bool self_is_result, Out out)) {
  at::leaky_relu_backward_out(out, gradient, self, slope, self_is_result);
}
HOSTNPU_OPERATOR(Elu, (In self, Number alpha, Number scale, Number input_scale, Out out)) {
  at::elu_out(out, self, alpha, scale, input_scale);
}
HOSTNPU_OPERATOR(InplaceElu, (Out self, Number alpha, Number scale, Number input_scale)) {
  at::elu_out(self, self, alpha, scale, input_scale);
}
HOSTNPU_OPERATOR(Softplus, (In self, Number beta, Number threshold, Out out)) { at::softplus_out(out, self, beta, threshold); }
HOSTNPU_OPERATOR(Threshold, (In self, Number threshold, Number value, Out out)) {
  at::threshold_out(out, self, threshold, value);
}
HOSTNPU_OPERATOR(InplaceThreshold, (Out self, Number threshold, Number value)) {
  at::threshold_out(self, self, threshold, value);
}
HOSTNPU_OPERATOR(Hardtanh, (In self, Number low, Number high, Out out)) { at::hardtanh_out(out, self, low, high); }
HOSTNPU_OPERATOR(InplaceHardtanh, (Out self, Number low, Number high)) { at::hardtanh_out(self, self, low, high); }
HOSTNPU_OPERATOR(Hardswish, (In self, Out out)) { at::hardswish_out(out, self); }
HOSTNPU_OPERATOR(InplaceHardswish, (Out self)) { at::hardswish_out(self, self); }
HOSTNPU_OPERATOR(Mish, (In self, Out out)) { at::mish_out(out, self); }
HOSTNPU_OPERATOR(InplaceMish, (Out self)) { at::mish_out(self, self); }
HOSTNPU_OPERATOR(LogSigmoid, (In self, Out out)) { at::log_sigmoid_out(out, self); }
// The buffer is scratch space between forward and backward of a kernel; ATen's may be of another size.
HOSTNPU_OPERATOR(LogSigmoidForward, (In self, Out out, OptionalOut /*buffer*/)) { at::log_sigmoid_out(out, self); }
HOSTNPU_OPERATOR(Glu, (In self, int64_t dim, Out out)) { at::glu_out(out, self, dim); }
HOSTNPU_OPERATOR(Prelu, (In self, In weight, Out out)) { store(out, at::_prelu_kernel(self, weight)); }

// silu(first half) * second half, the halves along `dim`.
HOSTNPU_OPERATOR(SwiGlu, (In self, int64_t dim, Out out)) {
  const auto halves = widened(self).chunk(2, dim);
  store(out, at::mul(at::silu(halves[0]), halves[1]));
}
HOSTNPU_OPERATOR(SwiGluGrad, (In gradient, In self, int64_t dim, Out out)) {
  const auto halves = widened(self).chunk(2, dim);
  const at::Tensor upstream = widened(gradient);
  const at::Tensor first = at::silu_backward(at::mul(upstream, halves[1]), halves[0]);
  store(out, at::cat({first, at::mul(upstream, at::silu(halves[0]))}, dim));
}

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

void store_gradient(OptionalOut out, bool wanted, const at::Tensor& gradient) {
  if (wanted && out.has_value()) {
    store_flat(*out, gradient);
  }
}

}  // namespace

HOSTNPU_OPERATOR(Convolution, (In input, In weight, OptionalIn bias, Ints stride, Ints padding, Ints dilation, bool transposed,
                               Ints output_padding, int64_t groups, Out output, int8_t /*cube_math_type*/)) {
  const auto typed_bias = bias ? std::optional<at::Tensor>(bias->to(input.scalar_type())) : std::nullopt;
  store(output, at::convolution(input, weight, typed_bias, stride, padding, dilation, transposed, output_padding, groups));
}

// CANN declares groups as int; torch_npu passes an int64_t, whose low half is the same.
HOSTNPU_OPERATOR(ConvolutionBackward,
                 (In gradient, In input, In weight, Ints bias_sizes, Ints stride, Ints padding, Ints dilation, bool transposed,
                  Ints output_padding, int groups, Bools output_mask, int8_t /*cube_math_type*/, OptionalOut input_gradient,
                  OptionalOut weight_gradient, OptionalOut bias_gradient)) {
  TORCH_CHECK(output_mask.size() == 3, "outputMask must have three entries (input, weight, bias), got ", output_mask.size());
  const std::array<bool, 3> mask = {output_mask[0], output_mask[1], output_mask[2]};
  const auto [dx, dw, db] = at::convolution_backward(gradient, input, weight, dims_or_all(bias_sizes), stride, padding,
                                                     dilation, transposed, output_padding, groups, mask);
  store_gradient(input_gradient, mask[0], dx);
  store_gradient(weight_gradient, mask[1], dw);
  store_gradient(bias_gradient, mask[2], db);
}

// `divisor` 0: as many as the window covers.
HOSTNPU_OPERATOR(AvgPool2d, (In self, Ints kernel, Ints stride, Ints padding, bool ceil_mode, bool count_padding,
                             int64_t divisor, int8_t /*cube_math_type*/, Out out)) {
  const auto fixed = divisor != 0 ? std::optional<int64_t>(divisor) : std::nullopt;
  at::avg_pool2d_out(out, self, kernel, stride, padding, ceil_mode, count_padding, fixed);
}
HOSTNPU_OPERATOR(AvgPool2dBackward, (In gradient, In self, Ints kernel, Ints stride, Ints padding, bool ceil_mode,
                                     bool count_padding, int64_t divisor, int8_t /*cube_math_type*/, Out out)) {
  const auto fixed = divisor != 0 ? std::optional<int64_t>(divisor) : std::nullopt;
  at::avg_pool2d_backward_out(out, gradient, self, kernel, stride, padding, ceil_mode, count_padding, fixed);
}
HOSTNPU_OPERATOR(AdaptiveAvgPool2d, (In self, Ints output_size, Out out)) {
  store(out, at::_adaptive_avg_pool2d(self, output_size));
}
HOSTNPU_OPERATOR(AdaptiveAvgPool2dBackward, (In gradient, In self, Out out)) {
  store(out, at::_adaptive_avg_pool2d_backward(gradient, self));
}

// The mask says where each maximum was found, in a layout of the NPU's own; only the backward reads it, which here finds the
// places anew. Zeros, so that a dump of it is the same in every run.
HOSTNPU_OPERATOR(MaxPool2dWithMask,
                 (In self, Ints kernel, Ints stride, Ints padding, Ints dilation, bool ceil_mode, Out out, Out mask)) {
  store(out, at::max_pool2d(self, kernel, stride, padding, dilation, ceil_mode));
  mask.zero_();
}
HOSTNPU_OPERATOR(MaxPool2dWithMaskBackward, (In gradient, In self, In /*mask*/, Ints kernel, Ints stride, Ints padding,
                                             Ints dilation, bool ceil_mode, Out input_gradient)) {
  const at::Tensor places = std::get<1>(at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil_mode));
  store(input_gradient,
        at::max_pool2d_with_indices_backward(gradient, self, kernel, stride, padding, dilation, ceil_mode, places));
}

}  // namespace hostnpu

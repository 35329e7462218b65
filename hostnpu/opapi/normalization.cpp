// SPDX-License-Identifier: Apache-2.0
// Layer, RMS and batch normalization. The NPU computes fp16 and bf16 in fp32, and so do these: statistics that the forward saves
// come out, and go into the backward, in fp32 whatever the input is.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

constexpr int64_t kInputGradient = 0;
constexpr int64_t kWeightGradient = 1;
constexpr int64_t kBiasGradient = 2;

std::array<bool, 3> wanted(Bools mask) {
  TORCH_CHECK(mask.size() == 3, "outputMask must have three entries (input, weight, bias), got ", mask.size());
  return {mask[0], mask[1], mask[2]};
}

void store_if_wanted(OptionalOut out, const at::Tensor& result) {
  if (out.has_value() && result.defined()) {
    store_flat(*out, result);
  }
}

// The input's floating type that the computation runs in; all other operands must follow it.
at::Tensor in_type_of(const at::Tensor& tensor, const at::Tensor& model) { return tensor.to(model.scalar_type()); }
std::optional<at::Tensor> in_type_of(OptionalIn tensor, const at::Tensor& model) {
  return tensor ? std::optional<at::Tensor>(in_type_of(*tensor, model)) : std::nullopt;
}

// The dimensions of x that gamma has.
std::vector<int64_t> trailing_dims(const at::Tensor& x, const at::Tensor& gamma) {
  std::vector<int64_t> dims;
  for (int64_t dim = x.dim() - gamma.dim(); dim < x.dim(); ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

void rms_norm(const at::Tensor& x, const at::Tensor& gamma, double epsilon, const at::Tensor& out, OptionalOut rstd) {
  const at::Tensor values = widened(x);
  const at::Tensor mean_square = at::mean(at::square(values), trailing_dims(x, gamma), /*keepdim=*/true);
  const at::Tensor reciprocal = at::rsqrt(at::add(mean_square, epsilon));
  store(out, at::mul(at::mul(values, reciprocal), in_type_of(gamma, values)));
  store_if_wanted(rstd, reciprocal);
}

}  // namespace

HOSTNPU_OPERATOR(LayerNorm, (In input, Ints normalized_shape, OptionalIn weight, OptionalIn bias, double eps, Out out,
                             OptionalOut mean, OptionalOut rstd)) {
  const at::Tensor x = widened(input);
  const auto [result, x_mean, x_rstd] =
      at::native_layer_norm(x, normalized_shape, in_type_of(weight, x), in_type_of(bias, x), eps);
  store(out, result);
  store_if_wanted(mean, x_mean);
  store_if_wanted(rstd, x_rstd);
}

HOSTNPU_OPERATOR(LayerNormBackward,
                 (In gradient, In input, Ints normalized_shape, In mean, In rstd, OptionalIn weight, OptionalIn bias,
                  Bools output_mask, OptionalOut input_gradient, OptionalOut weight_gradient, OptionalOut bias_gradient)) {
  const at::Tensor x = widened(input);
  const auto [dx, dw, db] =
      at::native_layer_norm_backward(in_type_of(gradient, x), x, normalized_shape, in_type_of(mean, x), in_type_of(rstd, x),
                                     in_type_of(weight, x), in_type_of(bias, x), wanted(output_mask));
  store_if_wanted(input_gradient, dx);
  store_if_wanted(weight_gradient, dw);
  store_if_wanted(bias_gradient, db);
}

// x / sqrt(mean(x^2) + eps) * gamma, the mean over the trailing dimensions that gamma has.
HOSTNPU_OPERATOR(RmsNorm, (In x, In gamma, double epsilon, Out out, OptionalOut rstd)) {
  rms_norm(x, gamma, epsilon, out, rstd);
}

// The gradients of RmsNorm; the statistics are the forward's.
HOSTNPU_OPERATOR(RmsNormGrad, (In gradient, In x, In rstd, In gamma, Out x_gradient, Out gamma_gradient)) {
  const at::Tensor values = widened(x);
  const at::Tensor normalized = at::mul(values, in_type_of(rstd, values));
  const at::Tensor upstream = in_type_of(gradient, values);
  const at::Tensor scaled = at::mul(upstream, in_type_of(gamma, values));
  const at::Tensor projection = at::mean(at::mul(scaled, normalized), trailing_dims(x, gamma), /*keepdim=*/true);
  const at::Tensor through = at::sub(scaled, at::mul(normalized, projection));
  store(x_gradient, at::mul(through, in_type_of(rstd, values)));
  store(gamma_gradient, at::mul(upstream, normalized).sum_to_size(gamma.sizes()));
}

// x = x1 + x2, then RmsNorm of x; the sum is a result too.
HOSTNPU_OPERATOR(AddRmsNorm, (In x1, In x2, In gamma, double epsilon, Out out, OptionalOut rstd, Out sum)) {
  store(sum, at::add(x1, x2));
  rms_norm(sum, gamma, epsilon, out, rstd);
}

HOSTNPU_OPERATOR(GroupNorm, (In self, OptionalIn gamma, OptionalIn beta, int64_t batch, int64_t channels, int64_t inner,
                             int64_t groups, double eps, Out out, OptionalOut mean, OptionalOut rstd)) {
  const at::Tensor x = widened(self).contiguous();
  const auto [result, x_mean, x_rstd] =
      at::native_group_norm(x, in_type_of(gamma, x), in_type_of(beta, x), batch, channels, inner, groups, eps);
  store(out, result);
  store_if_wanted(mean, x_mean);
  store_if_wanted(rstd, x_rstd);
}
HOSTNPU_OPERATOR(GroupNormBackward, (In gradient, In input, In mean, In rstd, OptionalIn gamma, int64_t batch, int64_t channels,
                                     int64_t inner, int64_t groups, Bools output_mask, OptionalOut input_gradient,
                                     OptionalOut gamma_gradient, OptionalOut beta_gradient)) {
  const at::Tensor x = widened(input).contiguous();
  const auto [dx, dw, db] = at::native_group_norm_backward(
      in_type_of(gradient, x).contiguous(), x, in_type_of(mean, x).reshape({batch, groups}),
      in_type_of(rstd, x).reshape({batch, groups}), in_type_of(gamma, x), batch, channels, inner, groups, wanted(output_mask));
  store_if_wanted(input_gradient, dx);
  store_if_wanted(gamma_gradient, dw);
  store_if_wanted(beta_gradient, db);
}

// Running statistics are updated in place when training. saveMean and saveInvstd mean something when training only.
HOSTNPU_OPERATOR(BatchNorm,
                 (In input, OptionalIn weight, OptionalIn bias, OptionalOut running_mean, OptionalOut running_var,
                  bool training, double momentum, double eps, Out output, OptionalOut save_mean, OptionalOut save_invstd)) {
  const at::Tensor x = widened(input);
  auto mean = in_type_of(running_mean, x);
  auto variance = in_type_of(running_var, x);
  const auto [result, x_mean, x_invstd] =
      at::native_batch_norm(x, in_type_of(weight, x), in_type_of(bias, x), mean, variance, training, momentum, eps);
  store(output, result);
  if (!training) {
    return;
  }
  store_if_wanted(save_mean, x_mean);
  store_if_wanted(save_invstd, x_invstd);
  if (mean.has_value() && variance.has_value()) {
    store_if_wanted(running_mean, *mean);
    store_if_wanted(running_var, *variance);
  }
}

HOSTNPU_OPERATOR(BatchNormBackward, (In gradient, In input, OptionalIn weight, OptionalIn running_mean, OptionalIn running_var,
                                     OptionalIn save_mean, OptionalIn save_invstd, bool training, double eps, Bools output_mask,
                                     OptionalOut input_gradient, OptionalOut weight_gradient, OptionalOut bias_gradient)) {
  const at::Tensor x = widened(input);
  const auto [dx, dw, db] = at::native_batch_norm_backward(
      in_type_of(gradient, x), x, in_type_of(weight, x), in_type_of(running_mean, x), in_type_of(running_var, x),
      in_type_of(save_mean, x), in_type_of(save_invstd, x), training, eps, wanted(output_mask));
  const auto mask = wanted(output_mask);
  store_if_wanted(input_gradient, mask[kInputGradient] ? dx : at::Tensor());
  store_if_wanted(weight_gradient, mask[kWeightGradient] ? dw : at::Tensor());
  store_if_wanted(bias_gradient, mask[kBiasGradient] ? db : at::Tensor());
}

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// Operators on lists of tensors, and optimizer steps.
#include <cmath>

#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

// Calls compute(out, i) for every tensor of the list.
template <class Compute>
void for_each_output(Tensors out, Compute compute) {
  for (size_t i = 0; i < out.size(); ++i) {
    at::Tensor target = out[i];
    compute(target, i);
  }
}

}  // namespace

HOSTNPU_OPERATOR(ForeachAddListV2, (Tensors x1, Tensors x2, Number alpha, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::add_out(target, x1[i], x2[i], alpha); });
}
HOSTNPU_OPERATOR(ForeachAddScalarV2, (Tensors x, Operand scalar, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::add_out(target, x[i], scalar); });
}
HOSTNPU_OPERATOR(ForeachSubScalarV2, (Tensors x, Operand scalar, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::sub_out(target, x[i], scalar); });
}
HOSTNPU_OPERATOR(ForeachMulScalarV2, (Tensors x, Operand scalar, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::mul_out(target, x[i], scalar); });
}
HOSTNPU_OPERATOR(ForeachDivScalarV2, (Tensors x, Operand scalar, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::div_out(target, x[i], scalar); });
}
HOSTNPU_OPERATOR(ForeachDivScalarList, (Tensors x, Numbers scalars, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { store(target, at::div(x[i], scalars.at(i))); });
}
HOSTNPU_OPERATOR(ForeachAddScalarList, (Tensors x, Numbers scalars, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { store(target, at::add(x[i], scalars.at(i))); });
}
HOSTNPU_OPERATOR(ForeachMulScalarList, (Tensors x, Numbers scalars, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { store(target, at::mul(x[i], scalars.at(i))); });
}
HOSTNPU_OPERATOR(ForeachSubScalarList, (Tensors x, Numbers scalars, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { store(target, at::sub(x[i], scalars.at(i))); });
}
HOSTNPU_OPERATOR(ForeachPowScalarList, (Tensors x, Numbers exponents, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::pow_out(target, x[i], exponents.at(i)); });
}
HOSTNPU_OPERATOR(ForeachSubListV2, (Tensors x1, Tensors x2, Number alpha, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::sub_out(target, x1[i], x2[i], alpha); });
}
HOSTNPU_OPERATOR(ForeachMulList, (Tensors x1, Tensors x2, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::mul_out(target, x1[i], x2[i]); });
}
HOSTNPU_OPERATOR(ForeachDivList, (Tensors x1, Tensors x2, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::div_out(target, x1[i], x2[i]); });
}
HOSTNPU_OPERATOR(ForeachMaximumList, (Tensors x1, Tensors x2, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::maximum_out(target, x1[i], x2[i]); });
}
HOSTNPU_OPERATOR(ForeachMinimumList, (Tensors x1, Tensors x2, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::minimum_out(target, x1[i], x2[i]); });
}
HOSTNPU_OPERATOR(ForeachMaximumScalarV2, (Tensors x, Number low, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::clamp_min_out(target, x[i], low); });
}
HOSTNPU_OPERATOR(ForeachMinimumScalarV2, (Tensors x, Number high, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::clamp_max_out(target, x[i], high); });
}
HOSTNPU_OPERATOR(ForeachPowList, (Tensors x, Tensors exponents, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::pow_out(target, x[i], exponents[i]); });
}
HOSTNPU_OPERATOR(ForeachPowScalarV2, (Tensors x, Number exponent, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::pow_out(target, x[i], exponent); });
}
HOSTNPU_OPERATOR(ForeachPowScalarAndTensor, (Number base, Tensors exponents, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::pow_out(target, base, exponents[i]); });
}
HOSTNPU_OPERATOR(ForeachAbs, (Tensors x, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::abs_out(target, x[i]); });
}
HOSTNPU_OPERATOR(ForeachNeg, (Tensors x, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::neg_out(target, x[i]); });
}
HOSTNPU_OPERATOR(ForeachExp, (Tensors x, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::exp_out(target, x[i]); });
}
HOSTNPU_OPERATOR(ForeachSign, (Tensors x, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::sign_out(target, x[i]); });
}
HOSTNPU_OPERATOR(ForeachReciprocal, (Tensors x, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::reciprocal_out(target, x[i]); });
}
HOSTNPU_OPERATOR(ForeachCopy, (Tensors x, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { target.copy_(x[i]); });
}
HOSTNPU_OPERATOR(ForeachZeroInplace, (Tensors x)) {
  for_each_output(x, [](at::Tensor& target, size_t /*i*/) { target.zero_(); });
}
HOSTNPU_OPERATOR(ForeachSqrt, (Tensors x, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::sqrt_out(target, x[i]); });
}
HOSTNPU_OPERATOR(ForeachLerpScalar, (Tensors x1, Tensors x2, Number weight, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::lerp_out(target, x1[i], x2[i], weight); });
}
HOSTNPU_OPERATOR(ForeachAddcmulScalarV2, (Tensors x1, Tensors x2, Tensors x3, Number scalar, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::addcmul_out(target, x1[i], x2[i], x3[i], scalar); });
}
HOSTNPU_OPERATOR(ForeachLerpList, (Tensors x1, Tensors x2, Tensors weights, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::lerp_out(target, x1[i], x2[i], weights[i]); });
}
HOSTNPU_OPERATOR(ForeachAddcdivScalarV2, (Tensors x1, Tensors x2, Tensors x3, Number scalar, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) { at::addcdiv_out(target, x1[i], x2[i], x3[i], scalar); });
}
HOSTNPU_OPERATOR(ForeachNorm, (Tensors x, Number order, Tensors out)) {
  for_each_output(out, [&](at::Tensor& target, size_t i) {
    vector_norm(target.view(at::IntArrayRef()), x[i], order, std::nullopt, false);
  });
}

// For gradient scaling: found_inf becomes 1 if any gradient has a NaN or an infinity, and stays as it is if not.
HOSTNPU_OPERATOR(ForeachNonFiniteCheckAndUnscale, (Tensors gradients, Out found_inf, In inverse_scale)) {
  for_each_output(gradients, [&](at::Tensor& gradient, size_t /*i*/) {
    if (!at::isfinite(gradient).all().item<bool>()) {
      found_inf.fill_(1);
    }
    gradient.mul_(inverse_scale.to(gradient.scalar_type()));
  });
}
// Too large a scale (found_inf) shrinks; one that was right for growth_interval steps grows, unless it would become infinite.
HOSTNPU_OPERATOR(AmpUpdateScale, (In scale, In growth_tracker, In found_inf, double growth_factor, double backoff_factor,
                                  int64_t growth_interval, Out new_scale, Out new_tracker)) {
  double value = scale.item<double>();
  int64_t steps = growth_tracker.item<int64_t>() + 1;
  if (found_inf.item<double>() != 0) {
    value *= backoff_factor;
    steps = 0;
  } else if (steps == growth_interval) {
    const double grown = value * growth_factor;
    value = std::isfinite(static_cast<float>(grown)) ? grown : value;
    steps = 0;
  }
  new_scale.fill_(value);
  new_tracker.fill_(steps);
}

// AdamW with decoupled weight decay. `step` counts finished steps, so this is step + 1. With amsgrad the largest second moment so
// far, kept in max_second_moment, takes the place of the second moment.
HOSTNPU_OPERATOR(ApplyAdamWV2,
                 (Out variable, Out first_moment, Out second_moment, OptionalOut max_second_moment, In gradient, In step,
                  float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize)) {
  const double steps = step.item<double>() + 1;
  const double correction1 = 1 - std::pow(static_cast<double>(beta1), steps);
  const double correction2 = 1 - std::pow(static_cast<double>(beta2), steps);
  const at::Tensor ascent = widened(gradient);
  const at::Tensor descent = maximize ? at::neg(ascent) : ascent;
  const at::Tensor first = at::add(at::mul(widened(first_moment), beta1), descent, 1 - beta1);
  at::Tensor second = at::addcmul(at::mul(widened(second_moment), beta2), descent, descent, 1 - beta2);
  first_moment.copy_(first);
  second_moment.copy_(second);
  if (amsgrad) {
    TORCH_CHECK(max_second_moment.has_value(), "amsgrad needs maxGradNormOptional, got null");
    second = at::maximum(widened(*max_second_moment), second);
    max_second_moment->copy_(second);
  }
  const at::Tensor denominator = at::add(at::div(at::sqrt(second), std::sqrt(correction2)), eps);
  const at::Tensor decayed = at::mul(widened(variable), 1 - lr * weight_decay);
  variable.copy_(at::addcdiv(decayed, first, denominator, -lr / correction1));
}

}  // namespace hostnpu

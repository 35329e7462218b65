// SPDX-License-Identifier: Apache-2.0
// Arithmetic of two or three tensors, or of a tensor and a number. A name that ends in s is the one with a number.
#include "opapi/signature.h"

namespace hostnpu {
namespace {

// CANN's numbers for ATen's rounding modes.
std::optional<std::string_view> rounding_mode(int mode) {
  switch (mode) {
    case 0:
      return std::nullopt;
    case 1:
      return "trunc";
    case 2:
      return "floor";
    default:
      TORCH_CHECK(false, "mode must be 0 (none), 1 (trunc) or 2 (floor), got ", mode);
  }
}

}  // namespace

HOSTNPU_OPERATOR(Add, (In self, In other, Number alpha, Out out)) { at::add_out(out, self, other, alpha); }
HOSTNPU_OPERATOR(Adds, (In self, Operand other, Number alpha, Out out)) { at::add_out(out, self, other, alpha); }
HOSTNPU_OPERATOR(InplaceAdd, (Out self, In other, Number alpha)) { at::add_out(self, self, other, alpha); }
HOSTNPU_OPERATOR(InplaceAdds, (Out self, Operand other, Number alpha)) { at::add_out(self, self, other, alpha); }

HOSTNPU_OPERATOR(Sub, (In self, In other, Number alpha, Out out)) { at::sub_out(out, self, other, alpha); }
HOSTNPU_OPERATOR(Subs, (In self, Operand other, Number alpha, Out out)) { at::sub_out(out, self, other, alpha); }
HOSTNPU_OPERATOR(InplaceSub, (Out self, In other, Number alpha)) { at::sub_out(self, self, other, alpha); }
HOSTNPU_OPERATOR(InplaceSubs, (Out self, Operand other, Number alpha)) { at::sub_out(self, self, other, alpha); }
HOSTNPU_OPERATOR(Rsubs, (In self, Operand other, Number alpha, Out out)) { at::sub_out(out, other, self, alpha); }

HOSTNPU_OPERATOR(Mul, (In self, In other, Out out)) { at::mul_out(out, self, other); }
HOSTNPU_OPERATOR(Muls, (In self, Operand other, Out out)) { at::mul_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceMul, (Out self, In other)) { at::mul_out(self, self, other); }
HOSTNPU_OPERATOR(InplaceMuls, (Out self, Operand other)) { at::mul_out(self, self, other); }

HOSTNPU_OPERATOR(Div, (In self, In other, Out out)) { at::div_out(out, self, other); }
HOSTNPU_OPERATOR(Divs, (In self, Operand other, Out out)) { at::div_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceDiv, (Out self, In other)) { at::div_out(self, self, other); }
HOSTNPU_OPERATOR(InplaceDivs, (Out self, Operand other)) { at::div_out(self, self, other); }
HOSTNPU_OPERATOR(DivMod, (In self, In other, int mode, Out out)) { at::div_out(out, self, other, rounding_mode(mode)); }
HOSTNPU_OPERATOR(DivMods, (In self, Operand other, int mode, Out out)) { at::div_out(out, self, other, rounding_mode(mode)); }
HOSTNPU_OPERATOR(InplaceDivMod, (Out self, In other, int mode)) { at::div_out(self, self, other, rounding_mode(mode)); }
HOSTNPU_OPERATOR(InplaceDivMods, (Out self, Operand other, int mode)) { at::div_out(self, self, other, rounding_mode(mode)); }
HOSTNPU_OPERATOR(FloorDivide, (In self, In other, Out out)) { at::floor_divide_out(out, self, other); }
HOSTNPU_OPERATOR(FloorDivides, (In self, Operand other, Out out)) { at::floor_divide_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceFloorDivide, (Out self, In other)) { at::floor_divide_out(self, self, other); }
HOSTNPU_OPERATOR(InplaceFloorDivides, (Out self, Operand other)) { at::floor_divide_out(self, self, other); }
HOSTNPU_OPERATOR(RemainderTensorTensor, (In self, In other, Out out)) { at::remainder_out(out, self, other); }
HOSTNPU_OPERATOR(RemainderTensorScalar, (In self, Operand other, Out out)) { at::remainder_out(out, self, other); }
HOSTNPU_OPERATOR(RemainderScalarTensor, (Operand self, In other, Out out)) { at::remainder_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceRemainderTensorTensor, (Out self, In other)) { at::remainder_out(self, self, other); }
HOSTNPU_OPERATOR(InplaceRemainderTensorScalar, (Out self, Operand other)) { at::remainder_out(self, self, other); }
HOSTNPU_OPERATOR(FmodTensor, (In self, In other, Out out)) { at::fmod_out(out, self, other); }
HOSTNPU_OPERATOR(FmodScalar, (In self, Operand other, Out out)) { at::fmod_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceFmodTensor, (Out self, In other)) { at::fmod_out(self, self, other); }
HOSTNPU_OPERATOR(InplaceFmodScalar, (Out self, Operand other)) { at::fmod_out(self, self, other); }
HOSTNPU_OPERATOR(Atan2, (In self, In other, Out out)) { at::atan2_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceAtan2, (Out self, In other)) { at::atan2_out(self, self, other); }

HOSTNPU_OPERATOR(Maximum, (In self, In other, Out out)) { at::maximum_out(out, self, other); }
HOSTNPU_OPERATOR(Minimum, (In self, In other, Out out)) { at::minimum_out(out, self, other); }

HOSTNPU_OPERATOR(PowTensorScalar, (In self, Number exponent, Out out)) { at::pow_out(out, self, exponent); }
HOSTNPU_OPERATOR(PowTensorTensor, (In self, In exponent, Out out)) { at::pow_out(out, self, exponent); }
HOSTNPU_OPERATOR(PowScalarTensor, (Number self, In exponent, Out out)) { at::pow_out(out, self, exponent); }

HOSTNPU_OPERATOR(InplacePowTensorScalar, (Out self, Number exponent)) { at::pow_out(self, self, exponent); }
HOSTNPU_OPERATOR(InplacePowTensorTensor, (Out self, In exponent)) { at::pow_out(self, self, exponent); }

HOSTNPU_OPERATOR(BitwiseAndTensor, (In self, In other, Out out)) { at::bitwise_and_out(out, self, other); }
HOSTNPU_OPERATOR(BitwiseAndScalar, (In self, Operand other, Out out)) { at::bitwise_and_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceBitwiseAndTensor, (Out self, In other)) { at::bitwise_and_out(self, self, other); }
HOSTNPU_OPERATOR(InplaceBitwiseAndScalar, (Out self, Operand other)) { at::bitwise_and_out(self, self, other); }
HOSTNPU_OPERATOR(BitwiseOrTensor, (In self, In other, Out out)) { at::bitwise_or_out(out, self, other); }
HOSTNPU_OPERATOR(BitwiseOrScalar, (In self, Operand other, Out out)) { at::bitwise_or_out(out, self, other); }

HOSTNPU_OPERATOR(BitwiseXorTensor, (In self, In other, Out out)) { at::bitwise_xor_out(out, self, other); }
HOSTNPU_OPERATOR(BitwiseXorScalar, (In self, Operand other, Out out)) { at::bitwise_xor_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceBitwiseXorTensor, (Out self, In other)) { at::bitwise_xor_out(self, self, other); }
HOSTNPU_OPERATOR(InplaceBitwiseXorScalar, (Out self, Operand other)) { at::bitwise_xor_out(self, self, other); }
HOSTNPU_OPERATOR(LeftShift, (In self, In other, Out out)) { at::bitwise_left_shift_out(out, self, other); }
HOSTNPU_OPERATOR(RightShift, (In self, In other, Out out)) { at::bitwise_right_shift_out(out, self, other); }

HOSTNPU_OPERATOR(ClampMin, (In self, Number low, Out out)) { at::clamp_min_out(out, self, low); }
HOSTNPU_OPERATOR(ClampMax, (In self, Number high, Out out)) { at::clamp_max_out(out, self, high); }
HOSTNPU_OPERATOR(InplaceClampMax, (Out self, Number high)) { at::clamp_max_out(self, self, high); }
HOSTNPU_OPERATOR(ClampMinTensor, (In self, In low, Out out)) { at::clamp_min_out(out, self, low); }
HOSTNPU_OPERATOR(InplaceClampMinTensor, (Out self, In low)) { at::clamp_min_out(self, self, low); }
HOSTNPU_OPERATOR(ClampMaxTensor, (In self, In high, Out out)) { at::clamp_max_out(out, self, high); }
HOSTNPU_OPERATOR(InplaceClampMaxTensor, (Out self, In high)) { at::clamp_max_out(self, self, high); }
HOSTNPU_OPERATOR(ClampTensor, (In self, OptionalIn low, OptionalIn high, Out out)) { at::clamp_out(out, self, low, high); }
HOSTNPU_OPERATOR(Clamp, (In self, OptionalNumber low, OptionalNumber high, Out out)) { at::clamp_out(out, self, low, high); }

HOSTNPU_OPERATOR(Lerp, (In self, In end, In weight, Out out)) { at::lerp_out(out, self, end, weight); }
HOSTNPU_OPERATOR(Lerps, (In self, In end, Number weight, Out out)) { at::lerp_out(out, self, end, weight); }
HOSTNPU_OPERATOR(InplaceLerp, (Out self, In end, In weight)) { at::lerp_out(self, self, end, weight); }
HOSTNPU_OPERATOR(InplaceLerps, (Out self, In end, Number weight)) { at::lerp_out(self, self, end, weight); }

HOSTNPU_OPERATOR(Addcmul, (In self, In first, In second, Number value, Out out)) {
  at::addcmul_out(out, self, first, second, value);
}
HOSTNPU_OPERATOR(InplaceAddcmul, (Out self, In first, In second, Number value)) {
  at::addcmul_out(self, self, first, second, value);
}
HOSTNPU_OPERATOR(Addcdiv, (In self, In first, In second, Number value, Out out)) {
  at::addcdiv_out(out, self, first, second, value);
}
HOSTNPU_OPERATOR(InplaceAddcdiv, (Out self, In first, In second, Number value)) {
  at::addcdiv_out(self, self, first, second, value);
}

}  // namespace hostnpu

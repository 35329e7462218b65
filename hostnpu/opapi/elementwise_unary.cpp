// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor, element by element.
#include "opapi/signature.h"

namespace hostnpu {

#define HOSTNPU_UNARY(Name, function) \
  HOSTNPU_OPERATOR(Name, (In self, Out out)) { at::function##_out(out, self); }

#define HOSTNPU_UNARY_AND_INPLACE(Name, function) \
  HOSTNPU_UNARY(Name, function)                   \
  HOSTNPU_OPERATOR(Inplace##Name, (Out self)) { at::function##_out(self, self); }

HOSTNPU_UNARY_AND_INPLACE(Exp, exp)
HOSTNPU_UNARY_AND_INPLACE(Expm1, expm1)
HOSTNPU_UNARY_AND_INPLACE(Log, log)
HOSTNPU_UNARY_AND_INPLACE(Log1p, log1p)
HOSTNPU_UNARY_AND_INPLACE(Sqrt, sqrt)
HOSTNPU_UNARY_AND_INPLACE(Rsqrt, rsqrt)
HOSTNPU_UNARY_AND_INPLACE(Reciprocal, reciprocal)
HOSTNPU_UNARY_AND_INPLACE(Sin, sin)
HOSTNPU_UNARY_AND_INPLACE(Cos, cos)
HOSTNPU_UNARY_AND_INPLACE(Tanh, tanh)
HOSTNPU_UNARY_AND_INPLACE(Erf, erf)
HOSTNPU_UNARY_AND_INPLACE(Erfinv, erfinv)
HOSTNPU_UNARY_AND_INPLACE(Floor, floor)
HOSTNPU_UNARY_AND_INPLACE(Ceil, ceil)
HOSTNPU_UNARY_AND_INPLACE(Erfc, erfc)
HOSTNPU_UNARY_AND_INPLACE(Exp2, exp2)
HOSTNPU_UNARY_AND_INPLACE(Log2, log2)
HOSTNPU_UNARY_AND_INPLACE(Log10, log10)
HOSTNPU_UNARY_AND_INPLACE(Tan, tan)
HOSTNPU_UNARY_AND_INPLACE(Asin, asin)
HOSTNPU_UNARY_AND_INPLACE(Acos, acos)
HOSTNPU_UNARY_AND_INPLACE(Atan, atan)
HOSTNPU_UNARY_AND_INPLACE(Sinh, sinh)
HOSTNPU_UNARY_AND_INPLACE(Cosh, cosh)
HOSTNPU_UNARY_AND_INPLACE(Asinh, asinh)
HOSTNPU_UNARY_AND_INPLACE(Acosh, acosh)
HOSTNPU_UNARY_AND_INPLACE(Atanh, atanh)
HOSTNPU_UNARY_AND_INPLACE(Frac, frac)
HOSTNPU_UNARY_AND_INPLACE(LogicalNot, logical_not)
HOSTNPU_UNARY(Abs, abs)
HOSTNPU_UNARY(Neg, neg)
HOSTNPU_UNARY(Sign, sign)
HOSTNPU_UNARY(Round, round)
HOSTNPU_UNARY(Trunc, trunc)
HOSTNPU_UNARY(BitwiseNot, bitwise_not)

HOSTNPU_OPERATOR(RoundDecimals, (In self, int64_t decimals, Out out)) { at::round_out(out, self, decimals); }
HOSTNPU_OPERATOR(InplaceRoundDecimals, (Out self, int64_t decimals)) { at::round_out(self, self, decimals); }

HOSTNPU_OPERATOR(NanToNum, (In self, float nan, float positive_infinity, float negative_infinity, Out out)) {
  at::nan_to_num_out(out, self, nan, positive_infinity, negative_infinity);
}
HOSTNPU_OPERATOR(InplaceNanToNum, (Out self, float nan, float positive_infinity, float negative_infinity)) {
  at::nan_to_num_out(self, self, nan, positive_infinity, negative_infinity);
}

}  // namespace hostnpu

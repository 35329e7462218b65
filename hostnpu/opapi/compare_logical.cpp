// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, and choices by a condition.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {

#define HOSTNPU_COMPARISON(Name, function)                                                                    \
  HOSTNPU_OPERATOR(Name##Tensor, (In self, In other, Out out)) { at::function##_out(out, self, other); }      \
  HOSTNPU_OPERATOR(Name##Scalar, (In self, Operand other, Out out)) { at::function##_out(out, self, other); } \
  HOSTNPU_OPERATOR(Inplace##Name##Tensor, (Out self, In other)) { at::function##_out(self, self, other); }    \
  HOSTNPU_OPERATOR(Inplace##Name##Scalar, (Out self, Operand other)) { at::function##_out(self, self, other); }

HOSTNPU_COMPARISON(Eq, eq)
HOSTNPU_COMPARISON(Ne, ne)
HOSTNPU_COMPARISON(Lt, lt)
HOSTNPU_COMPARISON(Le, le)
HOSTNPU_COMPARISON(Gt, gt)
HOSTNPU_COMPARISON(Ge, ge)

HOSTNPU_OPERATOR(LogicalAnd, (In self, In other, Out out)) { at::logical_and_out(out, self, other); }
HOSTNPU_OPERATOR(LogicalOr, (In self, In other, Out out)) { at::logical_or_out(out, self, other); }

HOSTNPU_OPERATOR(LogicalXor, (In self, In other, Out out)) { at::logical_xor_out(out, self, other); }
HOSTNPU_OPERATOR(InplaceLogicalAnd, (Out self, In other)) { at::logical_and_out(self, self, other); }
HOSTNPU_OPERATOR(InplaceLogicalOr, (Out self, In other)) { at::logical_or_out(self, self, other); }

HOSTNPU_OPERATOR(IsPosInf, (In self, Out out)) { at::isposinf_out(out, self); }
HOSTNPU_OPERATOR(IsFinite, (In self, Out out)) { store(out, at::isfinite(self)); }
HOSTNPU_OPERATOR(IsNegInf, (In self, Out out)) { at::isneginf_out(out, self); }

// One element: whether shapes and all values agree.
HOSTNPU_OPERATOR(Equal, (In self, In other, Out out)) { out.fill_(at::equal(self, other)); }
HOSTNPU_OPERATOR(IsClose, (In self, In other, double rtol, double atol, bool equal_nan, Out out)) {
  store(out, at::isclose(self, other, rtol, atol, equal_nan));
}

HOSTNPU_OPERATOR(IsInTensorScalar, (In elements, Number tested, bool assume_unique, bool invert, Out out)) {
  at::isin_out(out, elements, tested, assume_unique, invert);
}
HOSTNPU_OPERATOR(IsInScalarTensor, (Number element, In tested, bool assume_unique, bool invert, Out out)) {
  at::isin_out(out, element, tested, assume_unique, invert);
}

HOSTNPU_OPERATOR(SWhere, (In condition, In self, In other, Out out)) {
  at::where_out(out, condition.scalar_type() == at::kByte ? condition.to(at::kBool) : condition, self, other);
}

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// Writing numbers into a tensor, copying one into another, changing the type.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {

HOSTNPU_OPERATOR(InplaceFillScalar, (Out self, Number value)) { self.fill_(value); }
HOSTNPU_OPERATOR(InplaceFillTensor, (Out self, In value)) { self.fill_(value); }
HOSTNPU_OPERATOR(InplaceOne, (Out self)) { self.fill_(1); }
HOSTNPU_OPERATOR(InplaceZero, (Out self)) { movable(self).zero_(); }

HOSTNPU_OPERATOR(InplaceCopy, (Out self, In source)) {
  if (self.scalar_type() == source.scalar_type()) {
    movable(self).copy_(movable(source));
  } else {
    self.copy_(source);
  }
}
// The type is also that of `out`.
HOSTNPU_OPERATOR(Cast, (In self, at::ScalarType /*type*/, Out out)) { out.copy_(self); }

HOSTNPU_OPERATOR(InplaceMaskedFillScalar, (Out self, In mask, Number value)) { self.masked_fill_(mask.to(at::kBool), value); }

HOSTNPU_OPERATOR(InplaceMaskedFillTensor, (Out self, In mask, In value)) { self.masked_fill_(mask.to(at::kBool), value); }
HOSTNPU_OPERATOR(InplaceMaskedScatter, (Out self, In mask, In source)) { self.masked_scatter_(mask.to(at::kBool), source); }

HOSTNPU_OPERATOR(Arange, (Number start, Number end, Number step, Out out)) { at::arange_out(out, start, end, step); }
HOSTNPU_OPERATOR(Range, (Number start, Number end, Number step, Out out)) { at::range_out(out, start, end, step); }
HOSTNPU_OPERATOR(Linspace, (Number start, Number end, int64_t steps, Out out)) { at::linspace_out(out, start, end, steps); }

HOSTNPU_OPERATOR(Eye, (int64_t rows, int64_t columns, Out out)) { at::eye_out(out, rows, columns); }
HOSTNPU_OPERATOR(Triu, (In self, int64_t diagonal, Out out)) { at::triu_out(out, self, diagonal); }
HOSTNPU_OPERATOR(InplaceTriu, (Out self, int64_t diagonal)) { at::triu_out(self, self, diagonal); }
HOSTNPU_OPERATOR(Tril, (In self, int64_t diagonal, Out out)) { at::tril_out(out, self, diagonal); }
HOSTNPU_OPERATOR(InplaceTril, (Out self, int64_t diagonal)) { at::tril_out(self, self, diagonal); }
// `wrap`: the diagonal starts anew below the end of a tall matrix.
HOSTNPU_OPERATOR(InplaceFillDiagonal, (Out self, Number value, bool wrap)) { self.fill_diagonal_(value, wrap); }

}  // namespace hostnpu

// SPDX-License-Identifier: Apache-2.0
// Matrix products. The last parameter, cubeMathType, chooses how the NPU's matrix unit may round; a CPU has nothing to choose.
#include "opapi/signature.h"

namespace hostnpu {

HOSTNPU_OPERATOR(Matmul, (In self, In mat2, Out out, int8_t /*cube_math_type*/)) { at::matmul_out(out, self, mat2); }
HOSTNPU_OPERATOR(Mm, (In self, In mat2, Out out, int8_t /*cube_math_type*/)) { at::mm_out(out, self, mat2); }
HOSTNPU_OPERATOR(BatchMatMul, (In self, In mat2, Out out, int8_t /*cube_math_type*/)) { at::bmm_out(out, self, mat2); }

HOSTNPU_OPERATOR(Addmm, (In self, In mat1, In mat2, Number beta, Number alpha, Out out, int8_t /*cube_math_type*/)) {
  at::addmm_out(out, self, mat1, mat2, beta, alpha);
}
HOSTNPU_OPERATOR(InplaceAddmm, (Out self, In mat1, In mat2, Number beta, Number alpha, int8_t /*cube_math_type*/)) {
  at::addmm_out(self, self, mat1, mat2, beta, alpha);
}
HOSTNPU_OPERATOR(Baddbmm, (In self, In batch1, In batch2, Number beta, Number alpha, Out out, int8_t /*cube_math_type*/)) {
  at::baddbmm_out(out, self, batch1, batch2, beta, alpha);
}

HOSTNPU_OPERATOR(Addbmm, (In self, In batch1, In batch2, Number beta, Number alpha, Out out, int8_t /*cube_math_type*/)) {
  at::addbmm_out(out, self, batch1, batch2, beta, alpha);
}
// Here alpha comes first.
HOSTNPU_OPERATOR(Addmv, (In self, In matrix, In vector, Number alpha, Number beta, Out out, int8_t /*cube_math_type*/)) {
  at::addmv_out(out, self, matrix, vector, beta, alpha);
}
HOSTNPU_OPERATOR(Mv, (In self, In vector, Out out, int8_t /*cube_math_type*/)) { at::mv_out(out, self, vector); }
HOSTNPU_OPERATOR(Dot, (In self, In other, Out out)) { at::dot_out(out, self, other); }

}  // namespace hostnpu

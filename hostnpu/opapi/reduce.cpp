// SPDX-License-Identifier: Apache-2.0
// Reductions over all or some dimensions.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {

HOSTNPU_OPERATOR(Amin, (In self, Ints dims, bool keep_dims, Out out)) { at::amin_out(out, self, dims, keep_dims); }
HOSTNPU_OPERATOR(Amax, (In self, Ints dims, bool keep_dims, Out out)) { at::amax_out(out, self, dims, keep_dims); }
HOSTNPU_OPERATOR(Max, (In self, Out out)) { at::max_out(out, self); }
HOSTNPU_OPERATOR(Min, (In self, Out out)) { at::min_out(out, self); }

// Both ends at once. ATen does it in one pass over one dimension or over all.
HOSTNPU_OPERATOR(Aminmax, (In self, Ints dims, bool keep_dims, Out minimum, Out maximum)) {
  const bool all = dims.empty() || static_cast<int64_t>(dims.size()) == self.dim();
  if (all || dims.size() == 1) {
    const auto dim = all ? std::nullopt : std::optional<int64_t>(dims[0]);
    at::aminmax_out(minimum, maximum, self, dim, keep_dims);
    return;
  }
  at::amin_out(minimum, self, dims, keep_dims);
  at::amax_out(maximum, self, dims, keep_dims);
}
HOSTNPU_OPERATOR(AminmaxDim, (In self, int64_t dim, bool keep_dim, Out minimum, Out maximum)) {
  at::aminmax_out(minimum, maximum, self, dim, keep_dim);
}
HOSTNPU_OPERATOR(AminmaxAll, (In self, Out minimum, Out maximum)) { at::aminmax_out(minimum, maximum, self); }

HOSTNPU_OPERATOR(MaxDim, (In self, int64_t dim, bool keep_dim, Out out, Out indices)) {
  const auto [values, positions] = at::max(self, dim, keep_dim);
  store(out, values);
  store(indices, positions);
}
HOSTNPU_OPERATOR(MinDim, (In self, int64_t dim, bool keep_dim, Out out, Out indices)) {
  const auto [values, positions] = at::min(self, dim, keep_dim);
  store(out, values);
  store(indices, positions);
}
HOSTNPU_OPERATOR(ArgMin, (In self, int64_t dim, bool keep_dim, Out out)) { store(out, at::argmin(self, dim, keep_dim)); }
HOSTNPU_OPERATOR(Median, (In self, Out out)) { store(out, at::median(self)); }
HOSTNPU_OPERATOR(ArgMax, (In self, int64_t dim, bool keep_dim, Out out)) { store(out, at::argmax(self, dim, keep_dim)); }

// `type` is the type to compute in, and nearly always that of `out`; ATen's out= forms insist on it.
HOSTNPU_OPERATOR(Mean, (In self, Ints dims, bool keep_dims, at::ScalarType type, Out out)) {
  if (type == out.scalar_type()) {
    at::mean_out(out, self, dims_or_all(dims), keep_dims, type);
  } else {
    store(out, at::mean(self, dims_or_all(dims), keep_dims, type));
  }
}
HOSTNPU_OPERATOR(ReduceSum, (In self, Ints dims, bool keep_dims, at::ScalarType type, Out out)) {
  if (type == out.scalar_type()) {
    at::sum_out(out, self, dims_or_all(dims), keep_dims, type);
  } else {
    store(out, at::sum(self, dims_or_all(dims), keep_dims, type));
  }
}

HOSTNPU_OPERATOR(Prod, (In self, at::ScalarType type, Out out)) { store(out, at::prod(self, type)); }
HOSTNPU_OPERATOR(ProdDim, (In self, int64_t dim, bool keep_dim, at::ScalarType type, Out out)) {
  store(out, at::prod(self, dim, keep_dim, type));
}
HOSTNPU_OPERATOR(LogSumExp, (In self, Ints dims, bool keep_dims, Out out)) { at::logsumexp_out(out, self, dims, keep_dims); }
HOSTNPU_OPERATOR(Trace, (In self, Out out)) { store(out, at::trace(self)); }

HOSTNPU_OPERATOR(Norm, (In self, Number order, Ints dims, bool keep_dims, Out out)) {
  vector_norm(out, self, order, dims_or_all(dims), keep_dims);
}
// The NPU computes in fp32 whatever `type` says; `out` has that type.
HOSTNPU_OPERATOR(LinalgVectorNorm, (In self, Number order, Ints dims, bool keep_dims, at::ScalarType /*type*/, Out out)) {
  vector_norm(out, self, order, dims_or_all(dims), keep_dims);
}

HOSTNPU_OPERATOR(All, (In self, Ints dims, bool keep_dims, Out out)) {
  store(out, at::all(self, dims_or_all(dims), keep_dims));
}
HOSTNPU_OPERATOR(Any, (In self, Ints dims, bool keep_dims, Out out)) {
  store(out, at::any(self, dims_or_all(dims), keep_dims));
}

HOSTNPU_OPERATOR(VarCorrection, (In self, Ints dims, int64_t correction, bool keep_dims, Out out)) {
  at::var_out(out, self, dims_or_all(dims), at::Scalar(correction), keep_dims);
}

HOSTNPU_OPERATOR(Std, (In self, Ints dims, int64_t correction, bool keep_dims, Out out)) {
  at::std_out(out, self, dims_or_all(dims), at::Scalar(correction), keep_dims);
}
HOSTNPU_OPERATOR(VarMean, (In self, Ints dims, int64_t correction, bool keep_dims, Out variance, Out mean)) {
  const auto [v, m] = at::var_mean(self, dims_or_all(dims), at::Scalar(correction), keep_dims);
  store(variance, v);
  store(mean, m);
}
HOSTNPU_OPERATOR(StdMeanCorrection, (In self, Ints dims, int64_t correction, bool keep_dims, Out deviation, Out mean)) {
  const auto [s, m] = at::std_mean(self, dims_or_all(dims), at::Scalar(correction), keep_dims);
  store(deviation, s);
  store(mean, m);
}

// The kernel counts in floating point, whatever the type of the input (ATen on the CPU knows floats only).
HOSTNPU_OPERATOR(Histc, (In self, int64_t bins, Number low, Number high, Out out)) {
  const at::Tensor values = self.is_floating_point() ? widened(self) : self.to(at::kDouble);
  store(out, at::histc(values, bins, low, high));
}

}  // namespace hostnpu

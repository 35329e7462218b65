// SPDX-License-Identifier: Apache-2.0
// Order along a dimension.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {

HOSTNPU_OPERATOR(Topk, (In self, int64_t k, int64_t dim, bool largest, bool sorted, Out values, Out indices)) {
  const auto [top, positions] = at::topk(self, k, dim, largest, sorted);
  store(values, top);
  store(indices, positions);
}
HOSTNPU_OPERATOR(Sort, (In self, bool stable, int64_t dim, bool descending, Out values, Out indices)) {
  const auto [ordered, positions] = at::sort(self, stable, dim, descending);
  store(values, ordered);
  store(indices, positions);
}
HOSTNPU_OPERATOR(Cumsum, (In self, int64_t dim, at::ScalarType type, Out out)) {
  if (type == out.scalar_type()) {
    at::cumsum_out(out, self, dim, type);
  } else {
    store(out, at::cumsum(self, dim, type));
  }
}

HOSTNPU_OPERATOR(Cummax, (In self, int64_t dim, Out values, Out indices)) {
  const auto [scanned, positions] = at::cummax(self, dim);
  store(values, scanned);
  store(indices, positions);
}
HOSTNPU_OPERATOR(Cummin, (In self, int64_t dim, Out values, Out indices)) {
  const auto [scanned, positions] = at::cummin(self, dim);
  store(values, scanned);
  store(indices, positions);
}
HOSTNPU_OPERATOR(SearchSorted, (In sorted, In self, bool out_int32, bool right, OptionalIn sorter, Out out)) {
  store(out, at::searchsorted(sorted, self, out_int32, right, std::nullopt, sorter));
}

}  // namespace hostnpu

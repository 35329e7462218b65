// SPDX-License-Identifier: Apache-2.0
// How far two values may be apart and still count as close.
#pragma once

#include <optional>

#include "compare/pair_kernels.h"
#include "format/dtype.h"

namespace msprobe::compare {

// Two values are close if |target - golden| <= atol + rtol * |golden|, or if they are equal, or both NaN.
struct Tolerance {
  // Not given: by dtype as torch.testing.assert_close has them, the looser of the two tensors' (float32 1.3e-6 and 1e-5, integers 0).
  std::optional<double> rtol;
  std::optional<double> atol;
};

Limits limits_for(const Tolerance& tolerance, DType target, DType golden) noexcept;

}  // namespace msprobe::compare

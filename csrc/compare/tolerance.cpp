// SPDX-License-Identifier: Apache-2.0
// The table of torch.testing.assert_close, by dtype.
#include "compare/tolerance.h"

#include <algorithm>

namespace msprobe::compare {
namespace {

// What is not in torch's table (integers, bool, fp8, fp4) must be equal.
constexpr Limits default_limits(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kComplex32:
      return {.rtol = 1e-3, .atol = 1e-5};
    case DType::kBFloat16:
      return {.rtol = 1.6e-2, .atol = 1e-5};
    case DType::kFloat32:
    case DType::kComplex64:
      return {.rtol = 1.3e-6, .atol = 1e-5};
    case DType::kFloat64:
    case DType::kComplex128:
      return {.rtol = 1e-7, .atol = 1e-7};
    default:
      return {.rtol = 0, .atol = 0};
  }
}

}  // namespace

Limits limits_for(const Tolerance& tolerance, DType target, DType golden) noexcept {
  const Limits ours = default_limits(target);
  const Limits theirs = default_limits(golden);
  return {.rtol = tolerance.rtol.value_or(std::max(ours.rtol, theirs.rtol)),
          .atol = tolerance.atol.value_or(std::max(ours.atol, theirs.atol))};
}

}  // namespace msprobe::compare

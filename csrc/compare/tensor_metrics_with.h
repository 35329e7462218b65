// SPDX-License-Identifier: Apache-2.0
// The comparison with loops of the caller's choice: tests run every target's, and the plain ones.
#pragma once

#include "compare/pair_kernels.h"
#include "compare/tensor_metrics.h"

namespace msprobe::compare {

TensorMetrics compare_tensors_with(const PairKernels& kernels, const read::PtTensor& target, const read::PtTensor& golden,
                                   const Tolerance& tolerance, int threads);

}  // namespace msprobe::compare

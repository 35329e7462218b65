// SPDX-License-Identifier: Apache-2.0
// Sums, products, maxima and minima over the ranks' values, for every data type that HCCL reduces.
#pragma once

#include <cstddef>
#include <vector>

#include "third_party/hccl/inc/hccl/hccl_types.h"

namespace hostnpu {

// Bytes of an element; 0 for a type that is not known.
std::size_t element_size(HcclDataType type);

bool can_reduce(HcclDataType type, HcclReduceOp operation);

// out[i] = inputs[0][i] op inputs[1][i] op ... in the order of the ranks, so every rank gets the same bits. out may be one of the
// inputs. 16-bit floats are accumulated in float32.
void reduce(const std::vector<const char*>& inputs, char* out, std::size_t count, HcclDataType type, HcclReduceOp operation);

}  // namespace hostnpu

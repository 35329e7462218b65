// SPDX-License-Identifier: Apache-2.0
// Statistics of an NPU tensor by ATen's own operators, written into a row: few kernels, all of which run on the AI Core for the
// types that models use, none of which waits for the host.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "device/npu_rows.h"
#include "stats/stats.h"

namespace msprobe::device::npu {

// How the bytes of a row are to be read.
struct RowFormat {
  at::ScalarType extremes = at::kFloat;
  at::ScalarType mean = at::kFloat;
  std::int64_t count = 0;  // elements of the tensor; 0: the row only says that the site ran
  std::string note;        // why there are no numbers, or what they are numbers of
};

// Queues (or captures) the statistics of x into `row`. Never throws because of x: a type that the operators refuse gives a row
// without numbers and a note. `by_copy`: see Settings::npu_rows_by_copy.
RowFormat queue_statistics(const at::Tensor& x, const Row& row, bool by_copy);

// The numbers of a row in host memory.
stats::Stats read_row(const std::byte* row, const RowFormat& format);

}  // namespace msprobe::device::npu

// SPDX-License-Identifier: Apache-2.0
// CANN's memory formats.
#include "device/npu_format.h"

#include <torch_npu/csrc/aten/CustomFunctions.h>

namespace msprobe::device::npu {
namespace {

// aclFormat, as in acl/acl_base.h.
constexpr std::int64_t kUndefined = -1;
constexpr std::int64_t kNchw = 0;
constexpr std::int64_t kNhwc = 1;
constexpr std::int64_t kNd = 2;
constexpr std::int64_t kNcdhw = 30;

}  // namespace

bool has_plain_format(const at::Tensor& x) {
  const std::int64_t format = at_npu::native::custom_ops::get_npu_format(x);
  return format == kUndefined || format == kNchw || format == kNhwc || format == kNd || format == kNcdhw;
}

at::Tensor in_plain_format(const at::Tensor& x) {
  return has_plain_format(x) ? x : at_npu::native::custom_ops::npu_format_cast(x, kNd);
}

}  // namespace msprobe::device::npu

// SPDX-License-Identifier: Apache-2.0
// Which operators take the statistics of which type, and how a row is read back.
#include "device/npu_stats.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mean.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <torch_npu/csrc/aten/common/from_blob.h>

#include <cstring>
#include <string_view>
#include <type_traits>

#include "device/npu_format.h"
#include "device/tensor_facts.h"

namespace msprobe::device::npu {
namespace {

// A float32 mean of a half tensor costs a float32 copy of it as workspace, in a graph's pool for good: only up to this size. Above,
// the mean is taken in the tensor's own type, and rounded to it.
constexpr std::int64_t kMaxElementsOfFloatMean = std::int64_t{4} << 20U;

// The elements as one dimension, in storage order where that needs no copy: no statistic depends on the order.
at::Tensor as_one_dimension(const at::Tensor& x) {
  if (!has_plain_format(x)) {
    return x;
  }
  if (x.is_non_overlapping_and_dense()) {
    return x.as_strided({x.numel()}, {1}, x.storage_offset());
  }
  return x.contiguous().view({-1});
}

// What the reductions are given, and the types of their results. Without tensors: no numbers, and the note says why.
struct Plan {
  at::Tensor for_extremes;
  at::Tensor for_sums;
  at::ScalarType mean = at::kFloat;
  std::string note;
};

// CANN casts fp8 to float32 on the Ascend950 generation only.
bool casts_float8() {
  static const bool yes = [] {
    const char* name = aclrtGetSocName();
    return name != nullptr && std::string_view(name).starts_with("Ascend950");
  }();
  return yes;
}

Plan plan_for_bytes(const at::Tensor& flat) {
  const at::Tensor bytes = flat.view(at::kByte);
  return {bytes, bytes.to(at::kFloat), at::kFloat, "numbers of the bytes as uint8: this device does not convert the type"};
}

Plan plan_for_float(at::Tensor numbers) { return {numbers, numbers, at::kFloat, {}}; }

Plan plan_for(const at::Tensor& x) {
  const at::Tensor flat = as_one_dimension(x);
  switch (x.scalar_type()) {
    case at::kFloat:
      return plan_for_float(flat);
    case at::kHalf:
    case at::kBFloat16:
      return {flat, flat, x.numel() <= kMaxElementsOfFloatMean ? at::kFloat : x.scalar_type(), {}};
    case at::kDouble:
      return {flat, flat, at::kDouble, {}};
    case at::kBool: {
      const at::Tensor bytes = flat.view(at::kByte);
      return {bytes, bytes.to(at::kFloat), at::kFloat, {}};
    }
    case at::kShort:  // as int32: reductions of int16 would run on the AI CPU
      return {flat.to(at::kInt), flat.to(at::kFloat), at::kFloat, {}};
    case at::kUInt16: {  // has no reductions at all
      constexpr int kLow16Bits = 0xFFFF;
      const at::Tensor wide = flat.view(at::kShort).to(at::kInt).bitwise_and(kLow16Bits);
      return {wide, wide.to(at::kFloat), at::kFloat, {}};
    }
    case at::kByte:
    case at::kChar:
    case at::kInt:
    case at::kLong:
      return {flat, flat.to(at::kFloat), at::kFloat, {}};
    case at::kComplexFloat:
    case at::kComplexDouble:
      return plan_for_float(at::abs(flat).to(at::kFloat));
    case at::kFloat8_e4m3fn:
    case at::kFloat8_e5m2:
      return casts_float8() ? plan_for_float(flat.to(at::kFloat)) : plan_for_bytes(flat);
    default:
      return x.element_size() == 1 ? plan_for_bytes(flat)
                                   : Plan{{}, {}, at::kFloat, "no statistics of this dtype on this device"};
  }
}

// float64 sums are kept as such.
at::ScalarType norm_type(at::ScalarType mean_type) { return mean_type == at::kDouble ? at::kDouble : at::kFloat; }

class RowWriter {
 public:
  RowWriter(const Row& row, c10::Device device, bool by_copy) : row_(row), device_(device), by_copy_(by_copy) {}

  at::Tensor slot(std::size_t offset, at::ScalarType type) const {
    return at_npu::native::from_blob(row_.device() + offset, at::IntArrayRef{}, device_,
                                     at::TensorOptions().dtype(type).device(device_));
  }

  void extremes(const at::Tensor& x) const {
    at::Tensor max = slot(kMaxOffset, x.scalar_type());
    at::Tensor min = slot(kMinOffset, x.scalar_type());
    if (by_copy_) {
      max.copy_(at::amax(x));
      min.copy_(at::amin(x));
    } else {
      at::amax_out(max, x);
      at::amin_out(min, x);
    }
  }

  void sums(const at::Tensor& x, at::ScalarType mean_type) const {
    at::Tensor mean = slot(kMeanOffset, mean_type);
    at::Tensor norm = slot(kNormOffset, norm_type(mean_type));
    // The norm last: it is what says that the row was written.
    if (by_copy_) {
      mean.copy_(at::mean(x, mean_type));
      norm.copy_(at::linalg_vector_norm(x, 2, at::OptionalIntArrayRef{}, false, norm.scalar_type()));
    } else {
      at::mean_out(mean, x, at::OptionalIntArrayRef{}, false, mean_type);
      at::linalg_vector_norm_out(norm, x, 2, at::OptionalIntArrayRef{}, false, norm.scalar_type());
    }
  }

  void only_ran() const { slot(kNormOffset, at::kFloat).zero_(); }

 private:
  Row row_;
  c10::Device device_;
  bool by_copy_;
};

template <class T>
double load(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

stats::Extreme real(double value) {
  stats::Extreme extreme;
  extreme.kind = stats::Extreme::Kind::kReal;
  extreme.real = value;
  return extreme;
}

template <class T>
stats::Extreme integer(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  stats::Extreme extreme;
  if constexpr (std::is_signed_v<T>) {
    extreme.kind = stats::Extreme::Kind::kSigned;
    extreme.signed_int = value;
  } else {
    extreme.kind = stats::Extreme::Kind::kUnsigned;
    extreme.unsigned_int = value;
  }
  return extreme;
}

double read_real(const std::byte* from, at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return load<c10::Half>(from);
    case at::kBFloat16:
      return load<c10::BFloat16>(from);
    case at::kDouble:
      return load<double>(from);
    default:
      return load<float>(from);
  }
}

stats::Extreme read_extreme(const std::byte* from, at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return integer<std::uint8_t>(from);
    case at::kChar:
      return integer<std::int8_t>(from);
    case at::kInt:
      return integer<std::int32_t>(from);
    case at::kLong:
      return integer<std::int64_t>(from);
    default:
      return real(read_real(from, type));
  }
}

}  // namespace

RowFormat queue_statistics(const at::Tensor& x, const Row& row, bool by_copy) {
  const RowWriter writer(row, x.device(), by_copy);
  RowFormat format;
  if (!has_memory(x)) {
    format.note = "no statistics: the tensor's memory has been freed, or it stands for zeros";
  } else if (x.numel() > 0) {
    try {
      const Plan plan = plan_for(x);
      if (plan.for_sums.defined()) {
        writer.extremes(plan.for_extremes);
        writer.sums(plan.for_sums, plan.mean);
        return {plan.for_extremes.scalar_type(), plan.mean, x.numel(), plan.note};
      }
      format.note = plan.note;
    } catch (const c10::Error& error) {
      format.note = std::string("no statistics on this device: ") + error.what_without_backtrace();
    }
  }
  writer.only_ran();
  return format;
}

stats::Stats read_row(const std::byte* row, const RowFormat& format) {
  stats::Stats stats;
  stats.count = format.count;
  if (format.count > 0) {
    stats.max = read_extreme(row + kMaxOffset, format.extremes);
    stats.min = read_extreme(row + kMinOffset, format.extremes);
    stats.mean = read_real(row + kMeanOffset, format.mean);
    stats.norm = read_real(row + kNormOffset, norm_type(format.mean));
  }
  return stats;
}

}  // namespace msprobe::device::npu

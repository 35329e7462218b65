// SPDX-License-Identifier: Apache-2.0
// Statistics by plain loops: one element at a time in the order of the shape, sums in long double. Shares no arithmetic with
// the kernels, only the decoding of formats that the language has no type for.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "format/small_float.h"
#include "stats/partial.h"
#include "stats/stats.h"

namespace msprobe::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Value>
Value read(const std::byte* from, std::int64_t index = 0) {
  Value value;
  std::memcpy(&value, from + index * static_cast<std::int64_t>(sizeof(Value)), sizeof value);
  return value;
}

// Collects values of floating and complex types.
class RealCollector {
 public:
  void add(double value) {
    ++stats_.count;
    stats_.nan += std::isnan(value) ? 1 : 0;
    stats_.pos_inf += value == kInfinity ? 1 : 0;
    stats_.neg_inf += value == -kInfinity ? 1 : 0;
    stats_.zero += value == 0 ? 1 : 0;
    max_ = value > max_ ? value : max_;
    min_ = value < min_ ? value : min_;
    add_to_sum(value);
    squares_ += static_cast<long double>(value) * value;
  }

  [[nodiscard]] Stats finish() const {
    Stats stats = stats_;
    if (stats.count == 0) {
      return stats;
    }
    stats.max.kind = stats.min.kind = Extreme::Kind::kReal;
    stats.max.real = stats.nan > 0 ? kNan : max_ + 0.0;
    stats.min.real = stats.nan > 0 ? kNan : min_ + 0.0;
    const bool finite = stats.nan + stats.pos_inf + stats.neg_inf == 0;
    const long double sum = finite ? sum_ + compensation_ : sum_;
    stats.mean = static_cast<double>(sum / static_cast<long double>(stats.count));
    stats.norm = static_cast<double>(std::sqrt(squares_));
    return stats;
  }

 private:
  // Neumaier's sum: what the addition lost is kept beside it.
  void add_to_sum(long double value) {
    const long double total = sum_ + value;
    compensation_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - total) + value : (value - total) + sum_;
    sum_ = total;
  }

  Stats stats_;
  double max_ = -kInfinity;
  double min_ = kInfinity;
  long double sum_ = 0;
  long double compensation_ = 0;
  long double squares_ = 0;
};

// Collects values of one integral type; Wide is std::int64_t or std::uint64_t.
template <class Wide>
class IntegerCollector {
 public:
  void add(Wide value) {
    ++stats_.count;
    stats_.zero += value == 0 ? 1 : 0;
    max_ = value > max_ ? value : max_;
    min_ = value < min_ ? value : min_;
    sum_ += value;
    squares_ += static_cast<long double>(value) * static_cast<long double>(value);
  }

  [[nodiscard]] Stats finish() const {
    Stats stats = stats_;
    if (stats.count == 0) {
      return stats;
    }
    if constexpr (std::numeric_limits<Wide>::is_signed) {
      stats.max.kind = stats.min.kind = Extreme::Kind::kSigned;
      stats.max.signed_int = max_;
      stats.min.signed_int = min_;
    } else {
      stats.max.kind = stats.min.kind = Extreme::Kind::kUnsigned;
      stats.max.unsigned_int = max_;
      stats.min.unsigned_int = min_;
    }
    stats.mean = static_cast<double>(static_cast<long double>(sum_) / static_cast<long double>(stats.count));
    stats.norm = static_cast<double>(std::sqrt(squares_));
    return stats;
  }

 private:
  Stats stats_;
  Wide max_ = std::numeric_limits<Wide>::min();
  Wide min_ = std::numeric_limits<Wide>::max();
  Int128 sum_ = 0;
  long double squares_ = 0;
};

// The magnitude of a pair; infinity wins over NaN. In long double no double's square overflows.
double magnitude(double real, double imaginary) {
  return static_cast<double>(std::hypot(static_cast<long double>(real), static_cast<long double>(imaginary)));
}

void add_real(DType dtype, const std::byte* at, RealCollector& into) {
  const auto half = [at](std::int64_t index) { return decode_small_float(kFloat16Format, read<std::uint16_t>(at, index)); };
  const auto byte = read<std::uint8_t>(at);
  switch (dtype) {
    case DType::kFloat16:
      return into.add(half(0));
    case DType::kBFloat16:
      return into.add(decode_small_float(kBFloat16Format, read<std::uint16_t>(at)));
    case DType::kFloat32:
      return into.add(read<float>(at));
    case DType::kFloat64:
      return into.add(read<double>(at));
    case DType::kComplex32:
      return into.add(magnitude(half(0), half(1)));
    case DType::kComplex64:
      return into.add(magnitude(read<float>(at, 0), read<float>(at, 1)));
    case DType::kComplex128:
      return into.add(magnitude(read<double>(at, 0), read<double>(at, 1)));
    case DType::kFloat8E4M3FN:
      return into.add(decode_small_float(kFloat8E4M3FNFormat, byte));
    case DType::kFloat8E4M3FNUZ:
      return into.add(decode_small_float(kFloat8E4M3FNUZFormat, byte));
    case DType::kFloat8E5M2:
      return into.add(decode_small_float(kFloat8E5M2Format, byte));
    case DType::kFloat8E5M2FNUZ:
      return into.add(decode_small_float(kFloat8E5M2FNUZFormat, byte));
    case DType::kFloat8E8M0FNU:
      return into.add(decode_e8m0(byte));
    case DType::kFloat4E2M1FNX2:
      into.add(decode_small_float(kFloat4E2M1FNFormat, byte & 0xFU));
      return into.add(decode_small_float(kFloat4E2M1FNFormat, byte >> 4U));
    default:
      fail("reference statistics of reals need a floating or complex dtype, got ", dtype_name(dtype));
  }
}

void add_signed(DType dtype, const std::byte* at, IntegerCollector<std::int64_t>& into) {
  switch (dtype) {
    case DType::kInt8:
      return into.add(read<std::int8_t>(at));
    case DType::kInt16:
      return into.add(read<std::int16_t>(at));
    case DType::kInt32:
      return into.add(read<std::int32_t>(at));
    case DType::kInt64:
      return into.add(read<std::int64_t>(at));
    default:
      fail("reference statistics of signed integers need such a dtype, got ", dtype_name(dtype));
  }
}

void add_unsigned(DType dtype, const std::byte* at, IntegerCollector<std::uint64_t>& into) {
  switch (dtype) {
    case DType::kBool:
      return into.add(read<std::uint8_t>(at) != 0 ? 1 : 0);
    case DType::kUInt8:
      return into.add(read<std::uint8_t>(at));
    case DType::kUInt16:
      return into.add(read<std::uint16_t>(at));
    case DType::kUInt32:
      return into.add(read<std::uint32_t>(at));
    case DType::kUInt64:
      return into.add(read<std::uint64_t>(at));
    default:
      fail("reference statistics of unsigned integers need such a dtype, got ", dtype_name(dtype));
  }
}

// Calls visit(address) for every element, last dimension fastest.
template <class Visit>
void for_each_element(const TensorView& view, Visit&& visit) {
  const auto item_size = static_cast<std::int64_t>(dtype_size(view.dtype));
  const std::int64_t elements = num_elements(view);
  std::vector<std::int64_t> at(view.sizes.size(), 0);
  for (std::int64_t element = 0; element < elements; ++element) {
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      offset += at[dim] * view.strides[dim];
    }
    visit(static_cast<const std::byte*>(view.data) + offset * item_size);
    for (std::size_t dim = at.size(); dim-- > 0;) {
      if (++at[dim] < view.sizes[dim]) {
        break;
      }
      at[dim] = 0;
    }
  }
}

}  // namespace

Stats reference(const TensorView& view) {
  if (!is_integral(view.dtype)) {
    RealCollector reals;
    for_each_element(view, [&](const std::byte* at) { add_real(view.dtype, at, reals); });
    return reals.finish();
  }
  const bool has_sign =
      view.dtype == DType::kInt8 || view.dtype == DType::kInt16 || view.dtype == DType::kInt32 || view.dtype == DType::kInt64;
  if (has_sign) {
    IntegerCollector<std::int64_t> integers;
    for_each_element(view, [&](const std::byte* at) { add_signed(view.dtype, at, integers); });
    return integers.finish();
  }
  IntegerCollector<std::uint64_t> integers;
  for_each_element(view, [&](const std::byte* at) { add_unsigned(view.dtype, at, integers); });
  return integers.finish();
}

}  // namespace msprobe::stats

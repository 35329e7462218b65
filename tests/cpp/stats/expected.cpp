// SPDX-License-Identifier: Apache-2.0
// Decoding, counting and summing with no code of the library under test.
#include "stats/expected.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace msprobe::stats::testing {
namespace {

constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
constexpr long double kInf = std::numeric_limits<long double>::infinity();

template <class Value>
Value read(const std::byte* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

long double code_value(DType dtype, std::uint32_t code) { return code_values(dtype)[code]; }

// C99's hypot written out: infinity wins over NaN.
long double magnitude(long double real, long double imaginary) {
  if (std::isinf(real) || std::isinf(imaginary)) {
    return kInf;
  }
  return std::sqrt(real * real + imaginary * imaginary);
}

void push_values(DType dtype, const std::byte* at, std::vector<long double>& values) {
  switch (dtype) {
    case DType::kBool:
      return values.push_back(read<std::uint8_t>(at) == 0 ? 0 : 1);
    case DType::kUInt8:
      return values.push_back(read<std::uint8_t>(at));
    case DType::kInt8:
      return values.push_back(read<std::int8_t>(at));
    case DType::kUInt16:
      return values.push_back(read<std::uint16_t>(at));
    case DType::kInt16:
      return values.push_back(read<std::int16_t>(at));
    case DType::kUInt32:
      return values.push_back(read<std::uint32_t>(at));
    case DType::kInt32:
      return values.push_back(read<std::int32_t>(at));
    case DType::kUInt64:
      return values.push_back(static_cast<long double>(read<std::uint64_t>(at)));
    case DType::kInt64:
      return values.push_back(static_cast<long double>(read<std::int64_t>(at)));
    case DType::kFloat32:
      return values.push_back(read<float>(at));
    case DType::kFloat64:
      return values.push_back(read<double>(at));
    case DType::kFloat16:
    case DType::kBFloat16:
      return values.push_back(code_value(dtype, read<std::uint16_t>(at)));
    case DType::kComplex32:
      // Rounded once to double, as the statistics of complex tensors are double.
      return values.push_back(static_cast<double>(magnitude(code_value(DType::kFloat16, read<std::uint16_t>(at)),
                                                            code_value(DType::kFloat16, read<std::uint16_t>(at + 2)))));
    case DType::kComplex64:
      return values.push_back(static_cast<double>(magnitude(read<float>(at), read<float>(at + 4))));
    case DType::kComplex128:
      return values.push_back(static_cast<double>(magnitude(read<double>(at), read<double>(at + 8))));
    case DType::kFloat4E2M1FNX2:
      values.push_back(code_value(dtype, read<std::uint8_t>(at) & 0xFU));
      return values.push_back(code_value(dtype, read<std::uint8_t>(at) >> 4U));
    default:
      return values.push_back(code_value(dtype, read<std::uint8_t>(at)));
  }
}

void push_dim(const TensorView& view, std::size_t dim, std::int64_t offset, std::vector<long double>& values) {
  if (dim == view.sizes.size()) {
    const auto item_size = static_cast<std::int64_t>(dtype_size(view.dtype));
    push_values(view.dtype, static_cast<const std::byte*>(view.data) + offset * item_size, values);
    return;
  }
  for (std::int64_t index = 0; index < view.sizes[dim]; ++index) {
    push_dim(view, dim + 1, offset + index * view.strides[dim], values);
  }
}

// Halving keeps the error of a sum of n terms near log2(n) roundings of a long double.
long double pairwise_sum(const std::vector<long double>& values, std::size_t first, std::size_t last) {
  if (last - first <= 2) {
    long double sum = 0;
    for (std::size_t index = first; index < last; ++index) {
      sum += values[index];
    }
    return sum;
  }
  const std::size_t middle = first + (last - first) / 2;
  return pairwise_sum(values, first, middle) + pairwise_sum(values, middle, last);
}

bool equal_or_both_nan(long double left, long double right) { return left == right || (std::isnan(left) && std::isnan(right)); }

bool within(long double got, long double wanted, long double tolerance) {
  if (!std::isfinite(got) || !std::isfinite(wanted)) {
    return equal_or_both_nan(got, wanted);
  }
  return std::fabs(got - wanted) <= tolerance;
}

}  // namespace

std::vector<long double> values_of(const Tensor& tensor) {
  std::vector<long double> values;
  push_dim(tensor.view(), 0, 0, values);
  return values;
}

Expected expect(const std::vector<long double>& values) {
  Expected expected;
  expected.count = static_cast<std::int64_t>(values.size());
  std::vector<long double> squares;
  std::vector<long double> magnitudes;
  for (const long double value : values) {
    expected.nan += std::isnan(value) ? 1 : 0;
    expected.pos_inf += value == kInf ? 1 : 0;
    expected.neg_inf += value == -kInf ? 1 : 0;
    expected.zero += value == 0 ? 1 : 0;
    squares.push_back(value * value);
    magnitudes.push_back(std::isfinite(value) ? std::fabs(value) : 0);
  }
  if (values.empty()) {
    return expected;
  }
  const auto count = static_cast<long double>(values.size());
  expected.max = expected.nan > 0 ? kNan : *std::max_element(values.begin(), values.end());
  expected.min = expected.nan > 0 ? kNan : *std::min_element(values.begin(), values.end());
  expected.mean = pairwise_sum(values, 0, values.size()) / count;
  expected.norm = std::sqrt(pairwise_sum(squares, 0, squares.size()));
  expected.mean_magnitude = pairwise_sum(magnitudes, 0, magnitudes.size()) / count;
  return expected;
}

long double value_of(const Extreme& extreme) {
  switch (extreme.kind) {
    case Extreme::Kind::kReal:
      return extreme.real;
    case Extreme::Kind::kSigned:
      return static_cast<long double>(extreme.signed_int);
    case Extreme::Kind::kUnsigned:
      return static_cast<long double>(extreme.unsigned_int);
    default:
      return kNan;
  }
}

::testing::AssertionResult matches(const Stats& got, const Expected& wanted, DType dtype) {
  ::testing::AssertionResult wrong = ::testing::AssertionFailure() << dtype_name(dtype) << ":";
  bool right = true;
  const auto compare = [&](const char* what, bool same, long double got_value, long double wanted_value) {
    if (!same) {
      right = false;
      wrong << " " << what << " is " << got_value << ", must be " << wanted_value << ";";
    }
  };
  const auto exact = [&](const char* what, long double got_value, long double wanted_value) {
    compare(what, equal_or_both_nan(got_value, wanted_value), got_value, wanted_value);
  };
  exact("count", static_cast<long double>(got.count), static_cast<long double>(wanted.count));
  exact("nan", static_cast<long double>(got.nan), static_cast<long double>(wanted.nan));
  exact("pos_inf", static_cast<long double>(got.pos_inf), static_cast<long double>(wanted.pos_inf));
  exact("neg_inf", static_cast<long double>(got.neg_inf), static_cast<long double>(wanted.neg_inf));
  exact("zero", static_cast<long double>(got.zero), static_cast<long double>(wanted.zero));
  if (wanted.count == 0) {
    exact("kind of max", static_cast<int>(got.max.kind), static_cast<int>(Extreme::Kind::kNone));
    exact("kind of min", static_cast<int>(got.min.kind), static_cast<int>(Extreme::Kind::kNone));
    return right ? ::testing::AssertionSuccess() : wrong;
  }
  // A magnitude is right to the last two bits of a double; every other extreme is one of the values.
  const auto slack = [dtype](long double value) {
    return is_complex(dtype) ? 0x1p-51L * std::fabs(value) + std::numeric_limits<double>::denorm_min() : 0.0L;
  };
  compare("max", within(value_of(got.max), wanted.max, slack(wanted.max)), value_of(got.max), wanted.max);
  compare("min", within(value_of(got.min), wanted.min, slack(wanted.min)), value_of(got.min), wanted.min);
  compare("mean", within(got.mean, wanted.mean, 1e-15L * wanted.mean_magnitude), got.mean, wanted.mean);
  const bool norm_overflows = wanted.norm > std::numeric_limits<double>::max() && std::isinf(got.norm);
  compare("norm", norm_overflows || within(got.norm, wanted.norm, 1e-14L * wanted.norm), got.norm, wanted.norm);
  return right ? ::testing::AssertionSuccess() : wrong;
}

::testing::AssertionResult identical(const Stats& left, const Stats& right) {
  const auto bits = [](const Extreme& extreme) { return extreme.unsigned_int; };
  const auto double_bits = [](double value) {
    std::uint64_t all = 0;
    std::memcpy(&all, &value, sizeof all);
    return std::isnan(value) ? 0 : all;
  };
  const auto extreme_bits = [&](const Extreme& extreme) {
    return extreme.kind == Extreme::Kind::kReal ? double_bits(extreme.real) : bits(extreme);
  };
  const bool same = left.count == right.count && left.nan == right.nan && left.pos_inf == right.pos_inf &&
                    left.neg_inf == right.neg_inf && left.zero == right.zero && left.max.kind == right.max.kind &&
                    left.min.kind == right.min.kind && extreme_bits(left.max) == extreme_bits(right.max) &&
                    extreme_bits(left.min) == extreme_bits(right.min) && double_bits(left.mean) == double_bits(right.mean) &&
                    double_bits(left.norm) == double_bits(right.norm);
  if (same) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "differ: mean " << left.mean << " and " << right.mean << ", norm " << left.norm
                                       << " and " << right.norm << ", max " << value_of(left.max) << " and "
                                       << value_of(right.max) << ", min " << value_of(left.min) << " and "
                                       << value_of(right.min) << ", zero " << left.zero << " and " << right.zero;
}

}  // namespace msprobe::stats::testing

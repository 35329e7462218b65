// SPDX-License-Identifier: Apache-2.0
// Decodes one element, prints it, and measures in steps of a floating format.
#include "compare/element.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "compare/number_reader.h"
#include "read/python_text.h"

namespace msprobe::compare {
namespace {

// --- steps of a format ------------------------------------------------------------------------------------------------------

struct Precision {
  int mantissa_bits;
  int lowest_exponent;  // of a normal number; 1 is 2^0
};

// Of one part, for complex types.
Precision precision_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kComplex32:
      return {10, -14};
    case DType::kBFloat16:
      return {7, -126};
    case DType::kFloat32:
    case DType::kComplex64:
      return {23, -126};
    case DType::kFloat8E4M3FN:
      return {3, -6};
    case DType::kFloat8E4M3FNUZ:
      return {3, -7};
    case DType::kFloat8E5M2:
      return {2, -14};
    case DType::kFloat8E5M2FNUZ:
      return {2, -15};
    case DType::kFloat8E8M0FNU:
      return {0, -127};
    case DType::kFloat4E2M1FNX2:
      return {1, 0};
    default:
      return {52, -1022};
  }
}

// The number of steps from 0 to |value|, rounded to the format. Values beyond the format's largest count on in its next binades.
std::uint64_t steps_from_zero(double value, const Precision& precision) {
  const double magnitude = std::fabs(value);
  if (magnitude == 0) {
    return 0;
  }
  const int exponent = std::max(std::ilogb(magnitude), precision.lowest_exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, precision.mantissa_bits - exponent)));
  return (static_cast<std::uint64_t>(exponent - precision.lowest_exponent) << static_cast<unsigned>(precision.mantissa_bits)) +
         mantissa;
}

std::uint64_t steps_between(double left, double right, const Precision& precision) {
  const std::uint64_t from_left = steps_from_zero(left, precision);
  const std::uint64_t from_right = steps_from_zero(right, precision);
  if (std::signbit(left) != std::signbit(right)) {
    return from_left + from_right;
  }
  return from_left > from_right ? from_left - from_right : from_right - from_left;
}

const Precision& coarser(const Precision& left, const Precision& right) {
  if (left.mantissa_bits != right.mantissa_bits) {
    return left.mantissa_bits < right.mantissa_bits ? left : right;
  }
  return left.lowest_exponent > right.lowest_exponent ? left : right;
}

// --- text ---------------------------------------------------------------------------------------------------------------------

// A float's own shortest text: 0.1, not 0.10000000149011612.
double shortest_of_float(double value) {
  constexpr std::size_t kLongestFloat = 32;
  std::array<char, kLongestFloat> text;  // NOLINT(*-member-init): written by to_chars
  const auto written = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
  double parsed = value;
  std::from_chars(text.data(), written.ptr, parsed);
  return parsed;
}

bool has_double_parts(DType dtype) { return dtype == DType::kFloat64 || dtype == DType::kComplex128; }

void append_real(std::string& out, double value, DType dtype) {
  read::append_python_float(out, std::isfinite(value) && !has_double_parts(dtype) ? shortest_of_float(value) : value);
}

// Python leaves out the ".0" of a complex number's parts.
void append_part(std::string& out, double value, DType dtype) {
  const std::size_t before = out.size();
  append_real(out, value, dtype);
  if (out.ends_with(".0") && out.find('e', before) == std::string::npos) {
    out.resize(out.size() - 2);
  }
}

}  // namespace

Element element_at(const read::PtTensor& tensor, std::int64_t number) {
  const DType dtype = tensor.dtype();
  const std::int64_t in_item = numbers_in_item(dtype);
  const PairKernels& kernels = kReferencePairKernels;
  Element element{.dtype = dtype};
  if (is_integral(dtype)) {
    NumberReader reader(tensor, Arithmetic::kInteger, kernels);
    std::memcpy(&element.integer, reader.read(number, 1), sizeof element.integer);
    element.real = static_cast<double>(element.integer);
  } else if (is_complex(dtype)) {
    NumberReader reader(tensor, Arithmetic::kComplex, kernels);
    std::array<double, 2> parts{};
    std::memcpy(parts.data(), reader.read(number, 1), sizeof parts);
    element.real = parts[0];
    element.imaginary = parts[1];
  } else if (dtype == DType::kFloat64) {
    NumberReader reader(tensor, Arithmetic::kDouble, kernels);
    std::memcpy(&element.real, reader.read(number, 1), sizeof element.real);
  } else {
    NumberReader reader(tensor, Arithmetic::kFloat, kernels);
    std::array<float, 2> values{};
    std::memcpy(values.data(), reader.read(number / in_item, 1), static_cast<std::size_t>(in_item) * sizeof(float));
    element.real = static_cast<double>(values.at(static_cast<std::size_t>(number % in_item)));
  }
  return element;
}

std::string element_text(const Element& element) {
  std::string text;
  if (element.dtype == DType::kBool) {
    text += element.integer != 0 ? "True" : "False";
  } else if (is_integral(element.dtype)) {
    if (element.integer < 0) {
      read::append_python_int(text, static_cast<std::int64_t>(element.integer));
    } else {
      read::append_python_int(text, static_cast<std::uint64_t>(element.integer));
    }
  } else if (is_complex(element.dtype)) {
    text += '(';
    append_part(text, element.real, element.dtype);
    text += std::signbit(element.imaginary) && !std::isnan(element.imaginary) ? "" : "+";  // a NaN's sign is not printed
    append_part(text, element.imaginary, element.dtype);
    text += "j)";
  } else {
    append_real(text, element.real, element.dtype);
  }
  return text;
}

std::string index_text(std::span<const std::int64_t> sizes, std::int64_t number) {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    index[dim] = number % sizes[dim];
    number /= sizes[dim];
  }
  std::string text(1, '[');
  for (const std::int64_t at : index) {
    text += text.size() > 1 ? ", " : "";
    read::append_python_int(text, at);
  }
  text += ']';
  return text;
}

std::optional<std::uint64_t> ulp_distance(const Element& left, const Element& right) {
  if (is_integral(left.dtype) && is_integral(right.dtype)) {
    const stats::Int128 difference = left.integer - right.integer;
    return static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
  }
  for (const double value : {left.real, left.imaginary, right.real, right.imaginary}) {
    if (!std::isfinite(value)) {
      return std::nullopt;
    }
  }
  // An integer has no steps of its own to measure in.
  const Precision own_left = precision_of(left.dtype);
  const Precision own_right = precision_of(right.dtype);
  const Precision& precision = is_integral(left.dtype)    ? own_right
                               : is_integral(right.dtype) ? own_left
                                                          : coarser(own_left, own_right);
  return std::max(steps_between(left.real, right.real, precision), steps_between(left.imaginary, right.imaginary, precision));
}

}  // namespace msprobe::compare

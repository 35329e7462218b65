// SPDX-License-Identifier: Apache-2.0
// Layouts, and values code by code.
#include "stats/tensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

namespace msprobe::stats::testing {
namespace {

struct Format {
  int codes_per_step;  // mantissa codes: the step between neighbours doubles after each such run but the first
  double first_step;
  int positive_codes;  // codes without the sign, specials included
};

const std::map<DType, Format>& formats() {
  static const std::map<DType, Format> formats{
      {DType::kFloat16, {1024, std::ldexp(1.0, -24), 0x8000}},
      {DType::kBFloat16, {128, std::ldexp(1.0, -133), 0x8000}},
      {DType::kFloat8E4M3FN, {8, std::ldexp(1.0, -9), 0x80}},
      {DType::kFloat8E4M3FNUZ, {8, std::ldexp(1.0, -10), 0x80}},
      {DType::kFloat8E5M2, {4, std::ldexp(1.0, -16), 0x80}},
      {DType::kFloat8E5M2FNUZ, {4, std::ldexp(1.0, -17), 0x80}},
      {DType::kFloat4E2M1FNX2, {2, 0.5, 8}},
  };
  return formats;
}

void put_specials(DType dtype, std::vector<double>& values) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto ieee = [&](std::size_t pos_inf, std::size_t neg_inf) {
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(pos_inf),
              values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), kNan);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(neg_inf), values.end(), kNan);
    values[pos_inf] = kInf;
    values[neg_inf] = -kInf;
  };
  switch (dtype) {
    case DType::kFloat16:
      return ieee(0x7C00, 0xFC00);
    case DType::kBFloat16:
      return ieee(0x7F80, 0xFF80);
    case DType::kFloat8E5M2:
      return ieee(0x7C, 0xFC);
    case DType::kFloat8E4M3FN:
      values[0x7F] = values[0xFF] = kNan;
      return;
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2FNUZ:
      values[0x80] = kNan;
      return;
    default:
      return;
  }
}

std::vector<double> build_code_values(DType dtype) {
  std::vector<double> values;
  if (dtype == DType::kFloat8E8M0FNU) {
    for (int code = 0; code < 255; ++code) {
      values.push_back(std::ldexp(1.0, code - 127));
    }
    values.push_back(std::numeric_limits<double>::quiet_NaN());
    return values;
  }
  const Format& format = formats().at(dtype);
  double step = format.first_step;
  double value = 0;
  for (int code = 0; code < format.positive_codes; ++code) {
    if (code >= 2 * format.codes_per_step && code % format.codes_per_step == 0) {
      step *= 2;
    }
    values.push_back(value);
    value += step;
  }
  for (int code = 0; code < format.positive_codes; ++code) {
    values.push_back(-values[static_cast<std::size_t>(code)]);
  }
  put_specials(dtype, values);
  return values;
}

// The type of one number of a (complex) dtype.
DType component_of(DType dtype) {
  switch (dtype) {
    case DType::kComplex32:
      return DType::kFloat16;
    case DType::kComplex64:
      return DType::kFloat32;
    case DType::kComplex128:
      return DType::kFloat64;
    default:
      return dtype;
  }
}

enum class Wanted : std::uint8_t { kFinite, kZero, kNan, kPosInf, kNegInf };

bool fits(double value, Wanted wanted) {
  switch (wanted) {
    case Wanted::kFinite:
      return std::isfinite(value);
    case Wanted::kZero:
      return value == 0;
    case Wanted::kNan:
      return std::isnan(value);
    case Wanted::kPosInf:
      return value > std::numeric_limits<double>::max();
    default:
      return value < std::numeric_limits<double>::lowest();
  }
}

// The codes of a format with the wanted kind of value; the finite ones if there are none.
const std::vector<std::uint16_t>& codes_with(DType dtype, Wanted wanted) {
  static std::map<std::pair<DType, Wanted>, std::vector<std::uint16_t>> found;
  std::vector<std::uint16_t>& codes = found[{dtype, wanted}];
  if (codes.empty()) {
    const std::vector<double>& values = code_values(dtype);
    for (std::size_t code = 0; code < values.size(); ++code) {
      if (fits(values[code], wanted)) {
        codes.push_back(static_cast<std::uint16_t>(code));
      }
    }
  }
  return codes.empty() ? codes_with(dtype, Wanted::kFinite) : codes;
}

std::uint16_t pick_code(DType dtype, Wanted wanted, Random& random) {
  const std::vector<std::uint16_t>& codes = codes_with(dtype, wanted);
  return codes[random() % codes.size()];
}

double pick_double(Wanted wanted, Random& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  switch (wanted) {
    case Wanted::kFinite:
      return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -60);
    case Wanted::kZero:
      return random() % 2 == 0 ? 0.0 : -0.0;
    case Wanted::kNan:
      return std::numeric_limits<double>::quiet_NaN();
    case Wanted::kPosInf:
      return kInf;
    default:
      return -kInf;
  }
}

void put_number(DType dtype, Wanted wanted, std::byte* at, std::size_t size, Random& random) {
  if (is_integral(dtype)) {
    const std::uint64_t code = wanted == Wanted::kZero ? 0 : (dtype == DType::kBool ? random() % 2 : random());
    std::memcpy(at, &code, size);
  } else if (dtype == DType::kFloat64) {
    const double value = pick_double(wanted, random);
    std::memcpy(at, &value, size);
  } else if (dtype == DType::kFloat32) {
    const auto value = static_cast<float>(pick_double(wanted, random));
    std::memcpy(at, &value, size);
  } else if (dtype == DType::kFloat4E2M1FNX2) {
    *at = static_cast<std::byte>(pick_code(dtype, wanted, random) | pick_code(dtype, wanted, random) << 4);
  } else {
    const std::uint16_t code = pick_code(dtype, wanted, random);
    std::memcpy(at, &code, size);
  }
}

Wanted pick_wanted(Values values, Random& random) {
  const std::uint64_t die = random() % 64;
  switch (values) {
    case Values::kWithNan:
      return die == 0 ? Wanted::kNan : Wanted::kFinite;
    case Values::kWithPosInf:
      return die == 0 ? Wanted::kPosInf : Wanted::kFinite;
    case Values::kWithBothInf:
      return die == 0 ? Wanted::kPosInf : (die == 1 ? Wanted::kNegInf : Wanted::kFinite);
    case Values::kWithAll:
      return die < 5 ? static_cast<Wanted>(die) : Wanted::kFinite;
    case Values::kMostlyZero:
      return die == 0 ? Wanted::kFinite : Wanted::kZero;
    case Values::kAllZero:
      return Wanted::kZero;
    default:
      return Wanted::kFinite;
  }
}

}  // namespace

std::int64_t Layout::first() const {
  std::int64_t below = 0;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    below += sizes[dim] > 0 && strides[dim] < 0 ? (sizes[dim] - 1) * -strides[dim] : 0;
  }
  return below;
}

std::int64_t Layout::extent() const {
  std::int64_t reach = first() + 1;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 0) {
      return 0;
    }
    reach += strides[dim] > 0 ? (sizes[dim] - 1) * strides[dim] : 0;
  }
  return reach;
}

Tensor::Tensor(DType dtype_of_it, Layout layout_of_it)
    : dtype(dtype_of_it),
      layout(std::move(layout_of_it)),
      memory(static_cast<std::size_t>(layout.extent()) * dtype_size(dtype_of_it)) {}

TensorView Tensor::view() const {
  const std::byte* data =
      memory.empty() ? nullptr : memory.data() + layout.first() * static_cast<std::int64_t>(dtype_size(dtype));
  return {data, dtype, layout.sizes, layout.strides};
}

std::byte* Tensor::at(std::int64_t index) { return memory.data() + index * static_cast<std::int64_t>(dtype_size(dtype)); }

std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (int index = 0; index < static_cast<int>(DType::kUnknown); ++index) {
    dtypes.push_back(static_cast<DType>(index));
  }
  return dtypes;
}

std::vector<Layout> layouts_of(std::int64_t count) {
  const std::int64_t rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(static_cast<double>(count))));
  const std::int64_t columns = std::max<std::int64_t>(1, count / rows);
  return {
      {"contiguous", {count}, {1}},
      {"transposed", {columns, rows}, {1, columns}},
      {"flipped", {rows, columns}, {-columns, -1}},
      {"one flipped", {rows, columns}, {columns, -1}},
      {"every third", {count}, {3}},
      {"every third backwards", {count}, {-3}},
      {"rows of a wider matrix", {rows, columns}, {columns + 5, 1}},
      {"rows of three", {columns, rows / 3 + 1, 3}, {4 * rows, 4, 1}},
      {"expanded rows", {rows, columns}, {0, 1}},
      {"expanded columns", {rows, columns}, {1, 0}},
      {"expanded scalar", {rows, columns}, {0, 0}},
      {"overlapping windows", {columns, rows}, {1, 1}},
      {"windows with a step", {columns, rows}, {2, 1}},
      {"ones among the sizes", {1, rows, 1, columns, 1}, {77, columns, -9, 1, 0}},
      {"permuted", {4, std::max<std::int64_t>(1, count / 12), 3}, {1, 12, 4}},
      {"0-dim", {}, {}},
      {"empty", {rows, 0, columns}, {columns, columns, 1}},
  };
}

Layout random_layout(Random& random) {
  Layout layout{"random", {}, {}};
  const std::size_t dims = random() % 6;
  for (std::size_t dim = 0; dim < dims; ++dim) {
    layout.sizes.push_back(static_cast<std::int64_t>(random() % 8));
    layout.strides.push_back(static_cast<std::int64_t>(random() % 41) - 20);
  }
  return layout;
}

std::string_view values_name(Values values) {
  constexpr std::array<std::string_view, 8> kNames{"Finite",  "WithNan",    "WithPosInf", "WithBothInf",
                                                   "WithAll", "MostlyZero", "AllZero",    "AnyBits"};
  return kNames.at(static_cast<std::size_t>(values));
}

void fill(Tensor& tensor, Values values, Random& random) {
  if (values == Values::kAnyBits) {
    std::generate(tensor.memory.begin(), tensor.memory.end(), [&random] { return static_cast<std::byte>(random()); });
    return;
  }
  const DType component = component_of(tensor.dtype);
  const std::size_t size = dtype_size(component);
  for (std::size_t at = 0; at < tensor.memory.size(); at += size) {
    put_number(component, pick_wanted(values, random), &tensor.memory[at], size, random);
  }
}

const std::vector<double>& code_values(DType dtype) {
  static std::map<DType, std::vector<double>> built;
  std::vector<double>& values = built[dtype];
  if (values.empty()) {
    values = build_code_values(dtype);
  }
  return values;
}

}  // namespace msprobe::stats::testing

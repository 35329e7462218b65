// SPDX-License-Identifier: Apache-2.0
// Which types can be compared by value.
#include <algorithm>
#include <array>

#include "compare/match.h"
#include "format/dtype.h"

namespace msprobe::compare {
namespace {

// "torch.float32", "Float32" (MindSpore's name) and "<class 'float'>" are numbers; what stands for nothing goes with all.
enum class Nature : std::uint8_t { kNothing, kReal, kWhole, kOther };

constexpr std::array<std::string_view, 2> kAbsent = {"None", "N/A"};
constexpr std::array<std::string_view, 7> kOtherReals = {"Float16",   "Float32",    "Float64",        "BFloat16",
                                                         "Complex64", "Complex128", "<class 'float'>"};
constexpr std::array<std::string_view, 11> kOtherWholes = {
    "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Bool", "<class 'int'>", "<class 'bool'>"};

template <std::size_t kSize>
bool has(const std::array<std::string_view, kSize>& all, std::string_view text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

Nature nature(std::string_view dtype) {
  if (has(kAbsent, dtype)) {
    return Nature::kNothing;
  }
  for (int index = 0; index < static_cast<int>(DType::kUnknown); ++index) {
    const auto known = static_cast<DType>(index);
    if (dtype_name(known) == dtype) {
      return is_integral(known) ? Nature::kWhole : Nature::kReal;
    }
  }
  if (has(kOtherReals, dtype)) {
    return Nature::kReal;
  }
  return has(kOtherWholes, dtype) ? Nature::kWhole : Nature::kOther;
}

}  // namespace

DtypeRelation dtype_relation(std::string_view target, std::string_view golden) {
  if (target == golden) {
    return DtypeRelation::kEqual;
  }
  return nature(target) != Nature::kOther && nature(golden) != Nature::kOther ? DtypeRelation::kNumbers
                                                                              : DtypeRelation::kNothing;
}

bool is_float_dtype(std::string_view dtype) { return nature(dtype) == Nature::kReal; }

}  // namespace msprobe::compare

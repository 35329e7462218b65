// SPDX-License-Identifier: Apache-2.0
// One element of a saved tensor: where it is, its value as text, and how many steps of a dtype lie between two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "read/pt_file.h"
#include "stats/partial.h"

namespace msprobe::compare {

// A number as it stands in a file, exact: `integer` of bool and integers, else `real` (and `imaginary`).
struct Element {
  DType dtype = DType::kUnknown;
  double real = 0;
  double imaginary = 0;
  stats::Int128 integer = 0;
};

// Number `number` in row-major order, counting the two values of a packed fp4 byte one by one.
Element element_at(const read::PtTensor& tensor, std::int64_t number);

// "0.1", "-3", "True", "(1+2j)", "nan": as Python prints it, with as many digits as its dtype needs.
std::string element_text(const Element& element);

// "[2, 0, 17]" for a tensor of these sizes; "[]" if there are none. Packed fp4 has one size more, 2: low and high nibble.
std::string index_text(std::span<const std::int64_t> sizes, std::int64_t number);

// How many steps lie between the two when both are rounded to the coarser dtype (that with fewer bits of mantissa): 0 for equal values,
// 1 for neighbours. For two integers their distance; for complex values the larger of the two parts' steps. None if a value is NaN or
// infinite. At most 2^64 - 1.
std::optional<std::uint64_t> ulp_distance(const Element& left, const Element& right);

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// Tensors to test with: a memory block, a layout over it, and values put there code by code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "stats/stats.h"

namespace msprobe::stats::testing {

using Random = std::mt19937_64;

struct Layout {
  std::string name;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;

  // Where the first element lies in the least memory that the layout fits, and how many elements that is.
  [[nodiscard]] std::int64_t first() const;
  [[nodiscard]] std::int64_t extent() const;
};

struct Tensor {
  DType dtype;
  Layout layout;
  std::vector<std::byte> memory;  // as long as the layout needs: reading outside is seen by AddressSanitizer

  Tensor(DType dtype_of_it, Layout layout_of_it);
  [[nodiscard]] TensorView view() const;
  // The element at `index` of the memory.
  [[nodiscard]] std::byte* at(std::int64_t index);
};

// A contiguous tensor with these values.
template <class Value>
Tensor tensor_of(DType dtype, const std::vector<Value>& values) {
  Tensor tensor(dtype, {"contiguous", {static_cast<std::int64_t>(values.size())}, {1}});
  std::memcpy(tensor.memory.data(), values.data(), tensor.memory.size());
  return tensor;
}

std::vector<DType> all_dtypes();

// Layouts of about `count` elements: contiguous, transposed, flipped, expanded, overlapping, sliced, empty, 0-dim.
std::vector<Layout> layouts_of(std::int64_t count);
Layout random_layout(Random& random);

enum class Values : std::uint8_t { kFinite, kWithNan, kWithPosInf, kWithBothInf, kWithAll, kMostlyZero, kAllZero, kAnyBits };
std::string_view values_name(Values values);

// Fills the whole memory. Specials that a format does not have are left out.
void fill(Tensor& tensor, Values values, Random& random);

// Value of every code of a floating type of at most 16 bits, built up from zero by the format's step sizes.
const std::vector<double>& code_values(DType dtype);

}  // namespace msprobe::stats::testing

// SPDX-License-Identifier: Apache-2.0
// One side of a comparison as numbers of the type that both sides are compared in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compare/pair_kernels.h"
#include "compare/tensor_runs.h"
#include "stats/partial.h"

namespace msprobe::compare {

using stats::Int128;

// What two dtypes are compared in: their common type, at least float32.
enum class Arithmetic : std::uint8_t {
  kFloat,    // float: floating types up to float32
  kDouble,   // double: float64, and integers up to 32 bits, exact
  kInteger,  // Int128: integers of which one has 64 bits, exact
  kComplex,  // two doubles, real and imaginary part, if either is complex
};
Arithmetic common_arithmetic(DType target, DType golden) noexcept;

// A tensor's items are its elements as torch counts them; an item is one number, or two for packed fp4.
inline constexpr std::int64_t kChunkItems = 4096;
std::int64_t numbers_in_item(DType dtype) noexcept;

// Reads chunks on one thread, through buffers of its own. The tensor must live longer.
class NumberReader {
 public:
  NumberReader(const read::PtTensor& tensor, Arithmetic arithmetic, const PairKernels& kernels);

  // The numbers of up to kChunkItems items, in row-major order; valid until the next call. Of any alignment.
  const void* read(std::int64_t first_item, std::int64_t items) noexcept;

  // The same numbers where they may be written to, aligned.
  template <class Number>
  Number* writable(const void* numbers, std::int64_t count) noexcept {
    return static_cast<Number*>(writable_bytes(numbers, static_cast<std::size_t>(count) * sizeof(Number)));
  }

 private:
  static constexpr std::size_t kBufferBytes = kChunkItems * sizeof(Int128);

  void convert(const std::byte* raw, std::int64_t items) noexcept;
  void* writable_bytes(const void* numbers, std::size_t bytes) noexcept;

  DType dtype_;
  Arithmetic arithmetic_;
  const PairKernels* kernels_;
  bool negated_;
  bool conjugated_;
  bool as_stored_;  // the bytes in the file are the numbers
  TensorRuns runs_;
  // Not initialised: what is not used costs no memory.
  std::unique_ptr<std::byte[]> raw_;
  std::unique_ptr<std::byte[]> numbers_;
};

}  // namespace msprobe::compare

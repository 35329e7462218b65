// SPDX-License-Identifier: Apache-2.0
// Statistics of the one-byte floating formats (fp8, fp4 pairs): count the 256 codes, then look each code's value up once.
#pragma once

#include <array>
#include <cstdint>

#include "stats/partial.h"
#include "stats/walk.h"

namespace msprobe::stats {

class ByteHistogram {
 public:
  // Whether a dtype is counted this way.
  static bool covers(DType dtype) noexcept;

  void add(const Span& span) noexcept;
  // At most 2^32 - 1 bytes may have been added.
  void finish(DType dtype, Partial& into) const;

 private:
  // Neighbours often hold the same code; four counters for each keep an increment from waiting for the one before it.
  static constexpr std::size_t kWays = 4;
  std::array<std::array<std::uint32_t, 256>, kWays> counts_{};
};

}  // namespace msprobe::stats

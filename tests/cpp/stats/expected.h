// SPDX-License-Identifier: Apache-2.0
// What the statistics of a tensor must be, computed in the tests' own way.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "stats/tensors.h"

namespace msprobe::stats::testing {

// All values, in the order of the shape. long double holds every dtype's values exactly, 64-bit integers too.
std::vector<long double> values_of(const Tensor& tensor);

struct Expected {
  std::int64_t count = 0;
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::int64_t zero = 0;
  long double max = 0;
  long double min = 0;
  long double mean = 0;
  long double norm = 0;
  long double mean_magnitude = 0;  // of the finite values: what an error in the mean is measured by
};

Expected expect(const std::vector<long double>& values);

long double value_of(const Extreme& extreme);

// Whether the numbers are right for this dtype, with a text of all differences.
::testing::AssertionResult matches(const Stats& got, const Expected& wanted, DType dtype);

// Whether two results are the same to the bit (NaNs are equal).
::testing::AssertionResult identical(const Stats& left, const Stats& right);

}  // namespace msprobe::stats::testing

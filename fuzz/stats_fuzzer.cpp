// SPDX-License-Identifier: Apache-2.0
// Any bytes, any layout: all targets must give the same bits, close to reference(), and read nothing outside the tensor.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <string_view>
#include <vector>

#include "stats/dispatch.h"
#include "stats/partial.h"
#include "stats/stats.h"

namespace {

using msprobe::DType;
using msprobe::stats::Extreme;
using msprobe::stats::KernelTable;
using msprobe::stats::Partial;
using msprobe::stats::Stats;
using msprobe::stats::TensorView;

// A tensor made of the input: dtype, dimensions, then the memory, for which the rest is repeated as often as needed.
struct FuzzedTensor {
  DType dtype = DType::kUnknown;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::vector<std::byte> memory;
  std::int64_t first = 0;

  FuzzedTensor(const std::uint8_t* data, std::size_t size) {
    const auto next = [&] {
      if (size == 0) {
        return std::uint8_t{0};
      }
      --size;
      return *data++;
    };
    dtype = static_cast<DType>(next() % static_cast<int>(DType::kUnknown));
    const int dims = next() % 6;
    std::int64_t extent = 1;
    std::int64_t elements = 1;
    for (int dim = 0; dim < dims; ++dim) {
      // One long dimension at most, so that an input stays fast.
      const std::int64_t longest = elements > 1000 ? 3 : (dim == 0 ? 2000 : 12);
      sizes.push_back((next() * 256 + next()) % longest);
      strides.push_back(static_cast<std::int8_t>(next()) % 24);
      elements *= std::max<std::int64_t>(1, sizes.back());
      const std::int64_t reach = std::max<std::int64_t>(0, sizes.back() - 1) * strides.back();
      extent += std::abs(reach);
      first += reach < 0 ? -reach : 0;
    }
    memory.resize(static_cast<std::size_t>(extent) * msprobe::dtype_size(dtype));
    for (std::size_t index = 0; index < memory.size() && size > 0; ++index) {
      memory[index] = static_cast<std::byte>(data[index % size]);
    }
  }

  [[nodiscard]] TensorView view() const {
    return {memory.data() + first * static_cast<std::int64_t>(msprobe::dtype_size(dtype)), dtype, sizes, strides};
  }
};

// What rounding may do to results near zero, where doubles have few bits.
constexpr double kSteps = 8 * std::numeric_limits<double>::denorm_min();

[[noreturn]] void report(const FuzzedTensor& tensor, std::string_view what, double got, double wanted) {
  std::cerr << dtype_name(tensor.dtype) << ": " << what << " is " << got << ", must be " << wanted << '\n';
  std::abort();
}

bool same(double left, double right) { return left == right || (std::isnan(left) && std::isnan(right)); }

void check_close(const FuzzedTensor& tensor, std::string_view what, double got, double wanted, double tolerance) {
  if (!same(got, wanted) && !(std::abs(got - wanted) <= tolerance)) {
    report(tensor, what, got, wanted);
  }
}

void check_equal(const FuzzedTensor& tensor, std::string_view what, std::int64_t got, std::int64_t wanted) {
  if (got != wanted) {
    report(tensor, what, static_cast<double>(got), static_cast<double>(wanted));
  }
}

void check_extreme(const FuzzedTensor& tensor, std::string_view what, const Extreme& got, const Extreme& wanted) {
  check_equal(tensor, what, static_cast<int>(got.kind), static_cast<int>(wanted.kind));
  if (wanted.kind == Extreme::Kind::kReal) {
    const double slack = is_complex(tensor.dtype) ? 0x1p-51 * std::abs(wanted.real) + kSteps : 0;
    check_close(tensor, what, got.real, wanted.real, slack);
  } else if (wanted.kind != Extreme::Kind::kNone) {
    check_equal(tensor, what, got.signed_int, wanted.signed_int);  // the same bits whatever the sign
  }
}

// Bounds the magnitudes: an error in the mean is measured by them.
double scale_of(const Stats& stats) {
  if (stats.max.kind != Extreme::Kind::kReal) {
    return 0x1p64;
  }
  return std::max(std::abs(stats.max.real), std::abs(stats.min.real));
}

void check(const FuzzedTensor& tensor, const Stats& got, const Stats& wanted) {
  check_equal(tensor, "count", got.count, wanted.count);
  check_equal(tensor, "nan", got.nan, wanted.nan);
  check_equal(tensor, "pos_inf", got.pos_inf, wanted.pos_inf);
  check_equal(tensor, "neg_inf", got.neg_inf, wanted.neg_inf);
  check_equal(tensor, "zero", got.zero, wanted.zero);
  check_extreme(tensor, "max", got.max, wanted.max);
  check_extreme(tensor, "min", got.min, wanted.min);
  if (wanted.count == 0) {
    return;
  }
  check_close(tensor, "mean", got.mean, wanted.mean, 1e-14 * scale_of(wanted) + kSteps);
  check_close(tensor, "norm", got.norm, wanted.norm, 1e-13 * wanted.norm + kSteps);
}

void check_same_bits(const FuzzedTensor& tensor, const Stats& got, const Stats& wanted) {
  check(tensor, got, wanted);
  if (!same(got.mean, wanted.mean) || !same(got.norm, wanted.norm) ||
      (wanted.max.kind == Extreme::Kind::kReal && !same(got.max.real, wanted.max.real))) {
    report(tensor, "a target's mean (or norm, max)", got.mean, wanted.mean);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FuzzedTensor tensor(data, size);
  const TensorView view = tensor.view();
  const Stats baseline = compute_with(msprobe::stats::kBaselineKernels, view);
  check(tensor, baseline, reference(view));
  for (const KernelTable* kernels : msprobe::stats::available_kernels()) {
    check_same_bits(tensor, compute_with(*kernels, view), baseline);
  }
  Partial total;
  for (std::int64_t block = 0; block < num_blocks(view); ++block) {
    Partial partial;
    accumulate_block(view, block, partial);
    merge(total, partial);
  }
  check_same_bits(tensor, finish(total), baseline);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Times compute() for dtype x size x target, beside a plain float sum in the same run. Each answer is compared with reference()
// first; a wrong one is not timed. bytes_per_second is the rate at which the tensor is read.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "stats/dispatch.h"
#include "stats/plain_sum.h"
#include "stats/stats.h"

namespace {

using msprobe::DType;
using msprobe::stats::Extreme;
using msprobe::stats::KernelTable;
using msprobe::stats::Stats;
using msprobe::stats::TensorView;

// What a layer's output looks like: normal values, without anything special.
std::vector<std::byte> make_values(DType dtype, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * msprobe::dtype_size(dtype));
  std::mt19937_64 random(1);
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64 || msprobe::is_complex(dtype)) {
    std::normal_distribution<double> normal;
    const bool single = dtype == DType::kFloat32 || dtype == DType::kComplex64;
    const std::size_t size = single ? sizeof(float) : sizeof(double);
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      const double value = normal(random);
      const auto narrow = static_cast<float>(value);
      std::memcpy(&bytes[at], single ? static_cast<const void*>(&narrow) : &value, size);
    }
    return bytes;
  }
  // Random codes, with an exponent bit kept at 0 where the format has infinities or NaN.
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] = static_cast<std::byte>(random());
    const bool top_byte = at % msprobe::dtype_size(dtype) == msprobe::dtype_size(dtype) - 1;
    if (msprobe::is_floating(dtype) && top_byte) {
      bytes[at] &= std::byte{0xBF};
    }
  }
  return bytes;
}

double as_double(const Extreme& extreme) {
  switch (extreme.kind) {
    case Extreme::Kind::kSigned:
      return static_cast<double>(extreme.signed_int);
    case Extreme::Kind::kUnsigned:
      return static_cast<double>(extreme.unsigned_int);
    default:
      return extreme.real;
  }
}

bool close(double got, double wanted, double scale) { return std::abs(got - wanted) <= 1e-9 * scale; }

bool same(const Stats& got, const Stats& wanted) {
  const double largest = std::max(std::abs(as_double(wanted.max)), std::abs(as_double(wanted.min)));
  return got.count == wanted.count && got.nan == wanted.nan && got.pos_inf == wanted.pos_inf && got.neg_inf == wanted.neg_inf &&
         got.zero == wanted.zero && close(got.mean, wanted.mean, largest) && close(got.norm, wanted.norm, wanted.norm) &&
         close(as_double(got.max), as_double(wanted.max), largest) && close(as_double(got.min), as_double(wanted.min), largest);
}

void time_stats(benchmark::State& state, const KernelTable& kernels, DType dtype, std::int64_t count) {
  const std::vector<std::byte> values = make_values(dtype, count);
  const std::int64_t sizes[] = {count};
  const std::int64_t strides[] = {1};
  const TensorView view{values.data(), dtype, sizes, strides};
  if (!same(compute_with(kernels, view), reference(view))) {
    state.SkipWithError("wrong answer: differs from reference()");
    return;
  }
  for ([[maybe_unused]] const auto& iteration : state) {
    benchmark::DoNotOptimize(compute_with(kernels, view));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(values.size()));
}

void time_plain_sum(benchmark::State& state, const KernelTable& kernels, std::int64_t count) {
  const std::vector<std::byte> bytes = make_values(DType::kFloat32, count);
  const auto* values = reinterpret_cast<const float*>(bytes.data());
  double wanted = 0;
  double magnitudes = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    wanted += values[index];
    magnitudes += std::abs(values[index]);
  }
  if (std::abs(msprobe::bench::plain_sum(kernels.target, values, count) - wanted) > 1e-4 * magnitudes) {
    state.SkipWithError("wrong answer: differs from a sum of doubles");
    return;
  }
  for ([[maybe_unused]] const auto& iteration : state) {
    benchmark::DoNotOptimize(msprobe::bench::plain_sum(kernels.target, values, count));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

void register_all() {
  constexpr DType kDTypes[] = {DType::kFloat32,      DType::kBFloat16,       DType::kFloat16,  DType::kFloat64,
                               DType::kInt64,        DType::kInt32,          DType::kInt8,     DType::kBool,
                               DType::kFloat8E4M3FN, DType::kFloat4E2M1FNX2, DType::kComplex64};
  for (const KernelTable* kernels : msprobe::stats::available_kernels()) {
    for (const std::int64_t count : {std::int64_t{1000}, std::int64_t{100000}, std::int64_t{10000000}}) {
      const std::string end = std::string(1, '/').append(kernels->name).append(1, '/').append(std::to_string(count));
      benchmark::RegisterBenchmark(("plain_sum" + end).c_str(), time_plain_sum, *kernels, count);
      for (const DType dtype : kDTypes) {
        benchmark::RegisterBenchmark((std::string(dtype_name(dtype)) + end).c_str(), time_stats, *kernels, dtype, count);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

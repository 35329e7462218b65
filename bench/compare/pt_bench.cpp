// SPDX-License-Identifier: Apache-2.0
// Times the comparison of 200 pairs of saved float32 tensors of 4 MB, beside reading the same files once from the page cache as `cat`
// does. The first pair's answer is compared with that of the plain loops; a wrong one is not timed.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "compare/tensor_metrics_with.h"
#include "dump/pt_frame.h"

namespace {

using msprobe::compare::TensorMetrics;

constexpr int kPairs = 200;
constexpr std::int64_t kRows = 1024;
constexpr std::int64_t kBytes = kRows * kRows * static_cast<std::int64_t>(sizeof(float));

class Files {
 public:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "msprobe_pt_bench_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::mt19937_64 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> golden(kRows * kRows);
    std::generate(golden.begin(), golden.end(), [&] { return normal(random); });
    for (int pair = 0; pair < kPairs; ++pair) {
      std::rotate(golden.begin(), golden.begin() + 1 + pair, golden.end());
      std::vector<float> target = golden;
      for (std::size_t index = static_cast<std::size_t>(pair); index < target.size(); index += 7) {
        target[index] *= 1.001F;
      }
      write(target_name(pair), target);
      write(golden_name(pair), golden);
    }
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  static std::string target_name(int pair) { return "target" + std::to_string(pair) + ".pt"; }
  static std::string golden_name(int pair) { return "golden" + std::to_string(pair) + ".pt"; }

 private:
  void write(const std::string& name, const std::vector<float>& numbers) const {
    const std::vector<std::int64_t> sizes = {kRows, kRows};
    const auto frame = msprobe::dump::make_pt_frame(msprobe::DType::kFloat32, sizes, numbers.data(), kBytes);
    std::ofstream file(folder_ + "/" + name, std::ios::binary);
    file << frame.head;
    file.write(reinterpret_cast<const char*>(numbers.data()), kBytes);
    file << frame.tail;
  }

  std::string folder_;
};

const Files& files() {
  static const Files made;
  return made;
}

bool answer_is_right() {
  const auto read = [](const std::string& name) { return msprobe::read::read_pt(files().folder() + "/" + name); };
  const auto target = read(Files::target_name(0));
  const auto golden = read(Files::golden_name(0));
  const TensorMetrics found = msprobe::compare::compare_tensors(target, golden, {}, 1);
  const TensorMetrics wanted =
      msprobe::compare::compare_tensors_with(msprobe::compare::kReferencePairKernels, target, golden, {}, 1);
  return found.status == msprobe::compare::MetricsStatus::kComputed && found.max_relative_error == wanted.max_relative_error &&
         found.one_thousandth_ratio == wanted.one_thousandth_ratio && found.worst_index == wanted.worst_index &&
         std::fabs(found.euclidean_distance - wanted.euclidean_distance) < 1e-12 * wanted.euclidean_distance;
}

// One thread, read(2) into a buffer of 128 KiB.
void read_all() {
  constexpr std::size_t kBuffer = std::size_t{128} << 10U;
  const auto buffer = std::make_unique<char[]>(kBuffer);
  for (int pair = 0; pair < kPairs; ++pair) {
    for (const std::string& name : {Files::target_name(pair), Files::golden_name(pair)}) {
      const msprobe::read::FileDescriptor file = msprobe::read::open_regular(files().folder() + "/" + name);
      while (read(file.get(), buffer.get(), kBuffer) > 0) {
      }
    }
  }
}

void read_once(benchmark::State& state) {
  read_all();  // makes the files, and brings them into the cache
  for (auto round : state) {
    read_all();
  }
  state.SetBytesProcessed(state.iterations() * kPairs * 2 * kBytes);
}

void compare_files(benchmark::State& state) {
  if (!answer_is_right()) {
    state.SkipWithError("the comparison's answer is not that of the plain loops");
    return;
  }
  read_all();
  const int threads = static_cast<int>(state.range(0));
  for (auto round : state) {
    msprobe::parallel_ranges(kPairs, 1, threads, [](std::size_t pair, std::size_t /*end*/) {
      const auto number = static_cast<int>(pair);
      benchmark::DoNotOptimize(msprobe::compare::compare_tensor_files(files().folder(), Files::target_name(number),
                                                                      files().folder(), Files::golden_name(number), {}, 1));
    });
  }
  state.SetBytesProcessed(state.iterations() * kPairs * 2 * kBytes);
}

BENCHMARK(read_once)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK(compare_files)
    ->Arg(1)
    ->Arg(2)
    ->ArgName("threads")
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->MinTime(2);

}  // namespace

BENCHMARK_MAIN();

// SPDX-License-Identifier: Apache-2.0
// Chunks within blocks, blocks within tensors, and the threads that take them.
#include "compare/pair_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/parallel.h"
#include "compare/wide_pairs.h"
#include "stats/denormals.h"

namespace msprobe::compare {
namespace {

// Large enough that a thread does not ask for work often, small enough that all have some.
constexpr std::int64_t kBlockItems = std::int64_t{1} << 18U;
static_assert(kBlockItems % kChunkItems == 0);

struct BlockResult {
  PairSums sums;
  SpecialDifferences special;
};

void add(PairSums& into, const PairSums& next) noexcept {
  into.dot += next.dot;
  into.target_squares += next.target_squares;
  into.golden_squares += next.golden_squares;
  into.difference_squares += next.difference_squares;
  into.max_abs = std::max(into.max_abs, next.max_abs);
  into.max_relative = std::max(into.max_relative, next.max_relative);
  into.within_one += next.within_one;
  into.within_five += next.within_five;
  into.over_tolerance += next.over_tolerance;
}

// What one thread needs to go through chunks of the pair.
class ChunkComparer {
 public:
  ChunkComparer(const read::PtTensor& target, const read::PtTensor& golden, const Limits& limits, const PairKernels& kernels)
      : arithmetic_(common_arithmetic(target.dtype(), golden.dtype())),
        in_item_(numbers_in_item(target.dtype())),
        limits_(limits),
        kernels_(kernels),
        epsilon_(target.dtype() == DType::kComplex128 || golden.dtype() == DType::kComplex128 ? kEpsilonDouble
                                                                                              : double{kEpsilonFloat}),
        target_(target, arithmetic_, kernels),
        golden_(golden, arithmetic_, kernels) {
    if (arithmetic_ == Arithmetic::kInteger) {
      rounded_.resize(2 * kChunkItems);
    }
  }

  // Adds a chunk of `items` items from number `first`.
  void compare(std::int64_t first, std::int64_t items, BlockResult& into) {
    load(first, items, into.special);
    PairSums sums = products_;
    switch (arithmetic_) {
      case Arithmetic::kFloat:
        kernels_.differences_float(x_, y_, count_, limits_, sums);
        kernels_.relative_float(x_, y_, count_, sums);
        break;
      case Arithmetic::kDouble:
        kernels_.differences_double(x_, y_, count_, limits_, sums);
        kernels_.relative_double(x_, y_, count_, sums);
        break;
      case Arithmetic::kInteger:
        kernels_.relative_double(rounded_.data(), rounded_.data() + kChunkItems, count_, sums);
        integer_differences(static_cast<const Int128*>(x_), static_cast<const Int128*>(y_), count_, limits_, sums);
        break;
      case Arithmetic::kComplex:
        kernels_.differences_double(x_, y_, 2 * count_, limits_, sums);
        complex_differences(aligned_doubles(target_, x_), aligned_doubles(golden_, y_), count_, epsilon_, limits_, sums);
        break;
    }
    add(into.sums, sums);
  }

  // The first element of a chunk whose |x - y| is `distance`; -1 if there is none.
  std::int64_t find(std::int64_t first, std::int64_t items, double distance) {
    SpecialDifferences ignored;
    load(first, items, ignored);
    for (std::int64_t index = 0; index < count_; ++index) {
      if (distance_at(index) == distance) {
        return first * in_item_ + index;
      }
    }
    return -1;
  }

 private:
  // Sets x_, y_, count_ and products_, with what is not finite taken out.
  void load(std::int64_t first, std::int64_t items, SpecialDifferences& special) {
    x_ = target_.read(first, items);
    y_ = golden_.read(first, items);
    count_ = items * in_item_;
    switch (arithmetic_) {
      case Arithmetic::kFloat:
        load_real<float>(kernels_.products_float, first, special);
        break;
      case Arithmetic::kDouble:
        load_real<double>(kernels_.products_double, first, special);
        break;
      case Arithmetic::kInteger:
        std::transform(static_cast<const Int128*>(x_), static_cast<const Int128*>(x_) + count_, rounded_.begin(),
                       [](Int128 value) { return static_cast<double>(value); });
        std::transform(static_cast<const Int128*>(y_), static_cast<const Int128*>(y_) + count_, rounded_.begin() + kChunkItems,
                       [](Int128 value) { return static_cast<double>(value); });
        kernels_.products_double(rounded_.data(), rounded_.data() + kChunkItems, count_, products_);
        break;
      case Arithmetic::kComplex:
        kernels_.products_double(x_, y_, 2 * count_, products_);
        if (!finite_products()) {
          clean<2, double>(first, special);
          kernels_.products_double(x_, y_, 2 * count_, products_);
        }
        break;
    }
  }

  template <class Number>
  void load_real(PairKernels::Products products, std::int64_t first, SpecialDifferences& special) {
    products(x_, y_, count_, products_);
    if (!finite_products()) {
      clean<1, Number>(first, special);
      products(x_, y_, count_, products_);
    }
  }

  // A NaN or an infinity makes its own square so. (Squares of large doubles may be infinite too: then there is nothing to clean.)
  [[nodiscard]] bool finite_products() const noexcept {
    return std::isfinite(products_.target_squares) && std::isfinite(products_.golden_squares);
  }

  template <int kParts, class Number>
  void clean(std::int64_t first, SpecialDifferences& special) noexcept {
    auto* const x = target_.writable<Number>(x_, kParts * count_);
    auto* const y = golden_.writable<Number>(y_, kParts * count_);
    clean_specials<kParts>(x, y, count_, first * in_item_, special);
    x_ = x;
    y_ = y;
  }

  const double* aligned_doubles(NumberReader& reader, const void* numbers) const noexcept {
    return reader.writable<double>(numbers, 2 * count_);
  }

  [[nodiscard]] double distance_at(std::int64_t index) const noexcept {
    switch (arithmetic_) {
      case Arithmetic::kFloat:
        return std::fabs(double{number<float>(x_, index)} - double{number<float>(y_, index)});
      case Arithmetic::kDouble:
        return std::fabs(number<double>(x_, index) - number<double>(y_, index));
      case Arithmetic::kInteger:
        return integer_distance(number<Int128>(x_, index), number<Int128>(y_, index));
      case Arithmetic::kComplex:
        break;
    }
    const double x[2] = {number<double>(x_, 2 * index), number<double>(x_, 2 * index + 1)};
    const double y[2] = {number<double>(y_, 2 * index), number<double>(y_, 2 * index + 1)};
    return complex_distance(x, y);
  }

  template <class Number>
  static Number number(const void* numbers, std::int64_t index) noexcept {
    Number value;
    std::memcpy(&value, static_cast<const std::byte*>(numbers) + index * static_cast<std::int64_t>(sizeof value), sizeof value);
    return value;
  }

  Arithmetic arithmetic_;
  std::int64_t in_item_;
  Limits limits_;
  const PairKernels& kernels_;
  double epsilon_;  // of complex numbers
  NumberReader target_;
  NumberReader golden_;
  std::vector<double> rounded_;  // of integers: kChunkItems of the target, then as many of the golden
  const void* x_ = nullptr;
  const void* y_ = nullptr;
  std::int64_t count_ = 0;
  PairSums products_;
};

class PairBlocks {
 public:
  PairBlocks(const read::PtTensor& target, const read::PtTensor& golden)
      : target_(target),
        golden_(golden),
        items_(target.elements()),
        results_(static_cast<std::size_t>((items_ - 1) / kBlockItems + 1)) {}

  // On as many threads as there are comparers.
  void run(std::vector<ChunkComparer>& comparers) {
    std::mutex mutex;
    std::vector<ChunkComparer*> idle;
    idle.reserve(comparers.size());
    for (ChunkComparer& comparer : comparers) {
      idle.push_back(&comparer);
    }
    parallel_ranges(results_.size(), 1, static_cast<int>(comparers.size()), [&](std::size_t block, std::size_t /*end*/) {
      ChunkComparer* comparer = nullptr;
      {
        const std::scoped_lock lock(mutex);
        comparer = idle.back();
        idle.pop_back();
      }
      compare_block(block, *comparer);
      const std::scoped_lock lock(mutex);
      idle.push_back(comparer);
    });
  }

  PairResult join(ChunkComparer& comparer) const {
    PairResult joined;
    joined.elements = items_ * numbers_in_item(target_.dtype());
    for (const BlockResult& block : results_) {
      add(joined.sums, block.sums);
      joined.special.add(block.special);
    }
    joined.sums.over_tolerance += joined.special.elements;
    joined.worst = joined.special.first >= 0 ? joined.special.first : find_worst(comparer, joined.sums.max_abs);
    return joined;
  }

 private:
  void compare_block(std::size_t block, ChunkComparer& comparer) {
    const stats::KeepDenormals keep;
    const std::int64_t begin = static_cast<std::int64_t>(block) * kBlockItems;
    const std::int64_t end = std::min(begin + kBlockItems, items_);
    BlockResult result;  // on this thread's stack: neighbours in the vector share cache lines
    for (std::int64_t first = begin; first < end; first += kChunkItems) {
      comparer.compare(first, std::min(kChunkItems, end - first), result);
    }
    results_[block] = result;
    target_.release(static_cast<std::size_t>(end - begin) * dtype_size(target_.dtype()));
    golden_.release(static_cast<std::size_t>(end - begin) * dtype_size(golden_.dtype()));
  }

  std::int64_t find_worst(ChunkComparer& comparer, double distance) const {
    if (!(distance > 0)) {
      return -1;
    }
    const stats::KeepDenormals keep;
    const auto block = std::find_if(results_.begin(), results_.end(),
                                    [distance](const BlockResult& result) { return result.sums.max_abs == distance; });
    const std::int64_t begin = (block - results_.begin()) * kBlockItems;
    const std::int64_t end = std::min(begin + kBlockItems, items_);
    std::int64_t found = -1;
    for (std::int64_t first = begin; first < end && found < 0; first += kChunkItems) {
      found = comparer.find(first, std::min(kChunkItems, end - first), distance);
    }
    return found;
  }

  const read::PtTensor& target_;
  const read::PtTensor& golden_;
  std::int64_t items_;
  std::vector<BlockResult> results_;
};

}  // namespace

PairResult compare_blocks(const read::PtTensor& target, const read::PtTensor& golden, const Limits& limits, int threads,
                          const PairKernels& kernels) {
  const std::int64_t blocks = (target.elements() - 1) / kBlockItems + 1;
  const std::int64_t workers = std::clamp<std::int64_t>(threads, 1, blocks);
  std::vector<ChunkComparer> comparers;
  comparers.reserve(static_cast<std::size_t>(workers));
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    comparers.emplace_back(target, golden, limits, kernels);
  }
  PairBlocks pair(target, golden);
  pair.run(comparers);
  return pair.join(comparers[0]);
}

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// The same bits however the blocks were spread over threads, and however they were collected.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "stats/expected.h"
#include "stats/partial.h"

namespace msprobe::stats {
namespace {

using testing::identical;
using testing::Random;
using testing::Tensor;
using testing::Values;

// Threads take whichever block is next; the partials are merged in order.
Stats compute_on_threads(const TensorView& view, int threads) {
  std::vector<Partial> partials(static_cast<std::size_t>(num_blocks(view)));
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t block = next++; block < static_cast<std::int64_t>(partials.size()); block = next++) {
      accumulate_block(view, block, partials[static_cast<std::size_t>(block)]);
    }
  };
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back(work);
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  Partial total;
  for (const Partial& partial : partials) {
    merge(total, partial);
  }
  return finish(total);
}

class BlocksTest : public ::testing::TestWithParam<DType> {
 protected:
  static Tensor make(testing::Layout layout) {
    Random random(9);
    Tensor tensor(GetParam(), std::move(layout));
    testing::fill(tensor, Values::kFinite, random);
    return tensor;
  }
};

TEST_P(BlocksTest, ThreadsDoNotChangeABit) {
  for (const auto& layout : {testing::Layout{"contiguous", {300007}, {1}}, testing::Layout{"slices", {700, 430}, {500, 1}},
                             testing::Layout{"every other", {250000}, {-2}}}) {
    const Tensor tensor = make(layout);
    const Stats wanted = compute(tensor.view());
    for (const int threads : {1, 2, 5}) {
      for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(identical(compute_on_threads(tensor.view(), threads), wanted)) << layout.name << ", " << threads;
      }
    }
  }
}

TEST_P(BlocksTest, OnePartialForAllBlocksIsTheSame) {
  const Tensor tensor = make({"contiguous", {200000}, {1}});
  Partial total;
  for (std::int64_t block = 0; block < num_blocks(tensor.view()); ++block) {
    accumulate_block(tensor.view(), block, total);
  }
  EXPECT_TRUE(identical(finish(total), compute(tensor.view())));
}

INSTANTIATE_TEST_SUITE_P(AllDTypes, BlocksTest, ::testing::ValuesIn(testing::all_dtypes()),
                         [](const auto& parameters) { return std::string(dtype_name(parameters.param).substr(6)); });

TEST(BlockTest, NumberOfBlocks) {
  const std::int64_t strides[] = {1};
  const auto blocks = [&](std::int64_t size) {
    const std::int64_t sizes[] = {size};
    return num_blocks({nullptr, DType::kFloat32, sizes, strides});
  };
  EXPECT_EQ(blocks(0), 0);
  EXPECT_EQ(blocks(1), 1);
  EXPECT_EQ(blocks(65536), 1);
  EXPECT_EQ(blocks(65537), 2);
  EXPECT_EQ(blocks(10 * 65536), 10);
}

TEST(BlockTest, NothingAccumulatedIsAnEmptyTensor) {
  Partial total;
  merge(total, Partial{});
  const Stats stats = finish(total);
  EXPECT_EQ(stats.count, 0);
  EXPECT_EQ(stats.max.kind, Extreme::Kind::kNone);
}

TEST(BlockTest, ABlockThatIsNotThere) {
  const float value = 1;
  Partial partial;
  for (const std::int64_t block : {-1, 1}) {
    try {
      accumulate_block({&value, DType::kFloat32, {}, {}}, block, partial);
      FAIL() << "block " << block << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "a block must be at least 0 and below num_blocks(view) = 1, got " + std::to_string(block));
    }
  }
}

}  // namespace
}  // namespace msprobe::stats

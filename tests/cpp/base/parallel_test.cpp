// SPDX-License-Identifier: Apache-2.0
// Every item once, blocks used in their order, the first exception raised.
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"

namespace msprobe {
namespace {

class Threads : public ::testing::TestWithParam<int> {};

TEST_P(Threads, RangesCoverAllOnce) {
  std::vector<std::atomic<int>> seen(1003);
  parallel_ranges(seen.size(), 10, GetParam(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ++seen[i];
    }
  });
  for (const std::atomic<int>& count : seen) {
    EXPECT_EQ(count, 1);
  }
  parallel_ranges(0, 10, GetParam(), [](std::size_t /*begin*/, std::size_t /*end*/) { FAIL(); });
}

TEST_P(Threads, BlocksAreUsedInOrder) {
  std::vector<std::size_t> slots(ahead(GetParam()));
  std::vector<std::size_t> used;
  parallel_in_order(
      500, GetParam(), [&](std::size_t index) { slots[index % slots.size()] = index * 3; },
      [&](std::size_t index) { used.push_back(slots[index % slots.size()]); });
  ASSERT_EQ(used.size(), 500U);
  for (std::size_t i = 0; i < used.size(); ++i) {
    EXPECT_EQ(used[i], i * 3);
  }
  parallel_in_order(0, GetParam(), [](std::size_t /*index*/) { FAIL(); }, [](std::size_t /*index*/) { FAIL(); });
}

TEST_P(Threads, FailuresAreRaised) {
  EXPECT_THROW(parallel_ranges(100, 1, GetParam(),
                               [](std::size_t begin, std::size_t /*end*/) {
                                 if (begin == 50) {
                                   fail("made");
                                 }
                               }),
               Error);
  EXPECT_THROW(parallel_in_order(
                   100, GetParam(),
                   [](std::size_t index) {
                     if (index == 50) {
                       fail("made");
                     }
                   },
                   [](std::size_t /*index*/) {}),
               Error);
  std::size_t used = 0;
  EXPECT_THROW(parallel_in_order(
                   100, GetParam(), [](std::size_t /*index*/) {},
                   [&](std::size_t index) {
                     ++used;
                     if (index == 20) {
                       fail("used");
                     }
                   }),
               Error);
  EXPECT_EQ(used, 21U);
}

INSTANTIATE_TEST_SUITE_P(Parallel, Threads, ::testing::Values(1, 2, 3, 8));

TEST(Parallel, ThereIsAThread) { EXPECT_GE(default_threads(), 1); }

}  // namespace
}  // namespace msprobe

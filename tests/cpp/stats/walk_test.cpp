// SPDX-License-Identifier: Apache-2.0
// The walk reads exactly the elements of the view, each as often as it occurs, and checks what it is given.
#include "stats/walk.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/error.h"
#include "stats/tensors.h"

namespace msprobe::stats {
namespace {

using testing::Layout;
using testing::Random;
using testing::Tensor;

// How often each offset of the memory belongs to the tensor, found by plain recursion.
void count_offsets(const Layout& layout, std::size_t dim, std::int64_t offset, std::map<std::int64_t, std::int64_t>& times) {
  if (dim == layout.sizes.size()) {
    ++times[offset];
    return;
  }
  for (std::int64_t index = 0; index < layout.sizes[dim]; ++index) {
    count_offsets(layout, dim + 1, offset + index * layout.strides[dim], times);
  }
}

// The same as the walk sees it, from memory whose every element holds its own offset.
template <class Element>
std::map<std::int64_t, std::int64_t> visited_offsets(DType dtype, const Layout& layout, std::int64_t cut) {
  Tensor tensor(dtype, layout);
  for (std::int64_t index = 0; index < layout.extent(); ++index) {
    const auto value = static_cast<Element>(index);
    std::memcpy(tensor.at(index), &value, sizeof value);
  }
  const Walk walk(tensor.view());
  std::map<std::int64_t, std::int64_t> times;
  for (std::int64_t first = 0; first < walk.count(); first += cut) {
    walk.visit(first, std::min(first + cut, walk.count()), [&](const Span& span) {
      for (std::int64_t index = 0; index < span.count; ++index) {
        Element value{};
        std::memcpy(&value, span.data + index * static_cast<std::int64_t>(sizeof value), sizeof value);
        times[static_cast<std::int64_t>(value) - layout.first()] += walk.repeat();
      }
    });
  }
  return times;
}

template <class Element>
void check(DType dtype, const Layout& layout, std::int64_t cut) {
  std::map<std::int64_t, std::int64_t> wanted;
  count_offsets(layout, 0, 0, wanted);
  EXPECT_EQ(visited_offsets<Element>(dtype, layout, cut), wanted) << layout.name << ", cut after " << cut;
}

TEST(WalkTest, ReadsEveryElementOfNamedLayouts) {
  for (const std::int64_t count : {1, 37, 5000}) {
    for (const Layout& layout : testing::layouts_of(count)) {
      for (const std::int64_t cut : {std::int64_t{1} << 40, std::int64_t{1000}, std::int64_t{77}}) {
        check<std::int32_t>(DType::kInt32, layout, cut);
        check<std::int64_t>(DType::kInt64, layout, cut);
      }
    }
  }
}

TEST(WalkTest, ReadsEveryElementOfRandomLayouts) {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const Layout layout = testing::random_layout(random);
    check<std::int16_t>(DType::kInt16, layout, 1 + static_cast<std::int64_t>(random() % 500));
    check<float>(DType::kFloat32, layout, std::int64_t{1} << 40);
  }
}

TEST(WalkTest, DenseLayoutsAreOneRun) {
  for (const Layout& layout : {Layout{"transposed", {30, 400}, {1, 30}}, Layout{"flipped", {30, 400}, {-400, -1}},
                               Layout{"permuted", {5, 6, 400}, {6, 1, 30}}}) {
    const Tensor tensor(DType::kFloat32, layout);
    const Walk walk(tensor.view());
    int spans = 0;
    walk.visit(0, walk.count(), [&](const Span& span) {
      ++spans;
      EXPECT_EQ(span.data, tensor.memory.data()) << "must be read where it is: " << layout.name;
      EXPECT_EQ(span.count, 12000);
    });
    EXPECT_EQ(spans, 1) << layout.name;
  }
}

TEST(WalkTest, ExpandedDimensionsAreReadOnce) {
  const Tensor tensor(DType::kFloat32, {"expanded", {1000000, 7, 1000000}, {0, 1, 0}});
  const Walk walk(tensor.view());
  EXPECT_EQ(walk.count(), 7);
  EXPECT_EQ(walk.repeat(), 1000000000000);
}

TEST(WalkTest, ManyDimensions) {
  Layout layout{"62 dimensions of size 1, and 16 of size 2", {}, {}};
  for (int dim = 0; dim < 62; ++dim) {
    layout.sizes.push_back(1);
    layout.strides.push_back(dim);
  }
  for (int dim = 0; dim < 16; ++dim) {
    layout.sizes.push_back(2);
    layout.strides.push_back(dim % 2 == 0 ? 1 << dim : 3 << dim);
  }
  check<std::int32_t>(DType::kInt32, layout, 1000);
}

TEST(WalkTest, SizesBesideAZeroMayBeAnything) {
  const std::int64_t sizes[] = {std::int64_t{1} << 40, std::int64_t{1} << 40, 0};
  const std::int64_t strides[] = {1, 1, 1};
  const TensorView view{nullptr, DType::kFloat32, sizes, strides};
  EXPECT_EQ(num_elements(view), 0);
  EXPECT_EQ(num_blocks(view), 0);
  EXPECT_EQ(compute(view).count, 0);
}

std::string error_of(const TensorView& view) {
  try {
    compute(view);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(WalkTest, RefusesWhatIsNoTensor) {
  const float value = 1;
  const std::int64_t two[] = {1, 1};
  const std::int64_t negative[] = {-1, 1};
  EXPECT_EQ(error_of({&value, DType::kUnknown, {}, {}}),
            "statistics need a dtype whose values are numbers, got unknown; record the shape only, or cast the tensor first");
  EXPECT_EQ(error_of({&value, DType::kFloat32, two, {}}), "a tensor needs as many strides as sizes, got 2 sizes and 0 strides");
  EXPECT_EQ(error_of({&value, DType::kFloat32, negative, two}), "the sizes of a tensor must not be negative, got -1");
}

}  // namespace
}  // namespace msprobe::stats

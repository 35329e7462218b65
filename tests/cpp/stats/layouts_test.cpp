// SPDX-License-Identifier: Apache-2.0
// Every dtype x layout x kind of values x target, against the tests' own computation and against reference().
#include <gtest/gtest.h>

#include <tuple>

#include "stats/dispatch.h"
#include "stats/expected.h"

namespace msprobe::stats {
namespace {

using testing::expect;
using testing::Expected;
using testing::identical;
using testing::Layout;
using testing::matches;
using testing::Random;
using testing::Tensor;
using testing::Values;

// Checks all targets on one tensor.
void check(const Tensor& tensor) {
  const Expected wanted = expect(testing::values_of(tensor));
  ASSERT_TRUE(matches(reference(tensor.view()), wanted, tensor.dtype)) << "reference, layout " << tensor.layout.name;
  const Stats baseline = compute_with(kBaselineKernels, tensor.view());
  for (const KernelTable* kernels : available_kernels()) {
    const Stats got = compute_with(*kernels, tensor.view());
    ASSERT_TRUE(matches(got, wanted, tensor.dtype)) << kernels->name << ", layout " << tensor.layout.name;
    ASSERT_TRUE(identical(got, baseline)) << kernels->name << ", layout " << tensor.layout.name;
  }
}

class LayoutsTest : public ::testing::TestWithParam<std::tuple<DType, Values>> {
 protected:
  [[nodiscard]] DType dtype() const { return std::get<0>(GetParam()); }
  [[nodiscard]] Values values() const { return std::get<1>(GetParam()); }

  void check_layout(const Layout& layout) {
    Tensor tensor(dtype(), layout);
    testing::fill(tensor, values(), random_);
    check(tensor);
  }

 private:
  Random random_{20260101};
};

TEST_P(LayoutsTest, SmallSizesOneByOne) {
  for (std::int64_t count = 0; count <= 70; ++count) {
    ASSERT_NO_FATAL_FAILURE(check_layout({"contiguous of " + std::to_string(count), {count}, {1}}));
  }
}

TEST_P(LayoutsTest, NamedLayouts) {
  for (const std::int64_t count : {1, 60, 1000, 9000}) {
    for (const Layout& layout : testing::layouts_of(count)) {
      ASSERT_NO_FATAL_FAILURE(check_layout(layout));
    }
  }
}

TEST_P(LayoutsTest, RandomStrides) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const Layout layout = testing::random_layout(random);
    ASSERT_NO_FATAL_FAILURE(check_layout(layout)) << "round " << round;
  }
}

// Longer than one block, with rows long enough to be read in place.
TEST_P(LayoutsTest, SeveralBlocks) {
  check_layout({"contiguous", {150001}, {1}});
  check_layout({"long rows", {9, 9001}, {9100, 1}});
}

INSTANTIATE_TEST_SUITE_P(AllDTypes, LayoutsTest,
                         ::testing::Combine(::testing::ValuesIn(testing::all_dtypes()),
                                            ::testing::Values(Values::kFinite, Values::kWithNan, Values::kWithPosInf,
                                                              Values::kWithBothInf, Values::kWithAll, Values::kMostlyZero,
                                                              Values::kAllZero, Values::kAnyBits)),
                         [](const ::testing::TestParamInfo<LayoutsTest::ParamType>& parameters) {
                           return std::string(dtype_name(std::get<0>(parameters.param)).substr(6))
                               .append("_")
                               .append(testing::values_name(std::get<1>(parameters.param)));
                         });

TEST(AlignmentTest, AnyAddressWillDo) {
  Random random(3);
  for (const DType dtype : testing::all_dtypes()) {
    Tensor tensor(dtype, {"contiguous", {1001}, {1}});
    testing::fill(tensor, Values::kWithAll, random);
    std::vector<std::byte> shifted(tensor.memory.size() + 1);
    std::copy(tensor.memory.begin(), tensor.memory.end(), shifted.begin() + 1);
    TensorView view = tensor.view();
    view.data = shifted.data() + 1;
    for (const KernelTable* kernels : available_kernels()) {
      EXPECT_TRUE(identical(compute_with(*kernels, view), compute_with(*kernels, tensor.view()))) << dtype_name(dtype);
    }
  }
}

}  // namespace
}  // namespace msprobe::stats

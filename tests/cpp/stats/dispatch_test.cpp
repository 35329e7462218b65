// SPDX-License-Identifier: Apache-2.0
// Which target runs. CTest runs ForcedTarget once for each value of MSPROBE_STATS_TARGET; that the code of a target is made of
// its instructions is check_targets.py's to prove.
#include "stats/dispatch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "stats/expected.h"

namespace msprobe::stats {
namespace {

TEST(DispatchTest, TheWidestRunsUnlessToldOtherwise) {
  EXPECT_EQ(&choose_kernels(nullptr), available_kernels().back());
  EXPECT_EQ(&choose_kernels(""), available_kernels().back());
}

TEST(DispatchTest, EachTargetCanBeNamed) {
  for (const KernelTable* kernels : available_kernels()) {
    EXPECT_EQ(&choose_kernels(std::string(kernels->name).c_str()), kernels);
  }
}

TEST(DispatchTest, AnUnknownNameIsRefused) {
  try {
    choose_kernels("avx3");
    FAIL() << "avx3 was accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("MSPROBE_STATS_TARGET must name a target that this CPU has (baseline"), std::string::npos)
        << message;
    EXPECT_NE(message.find("got 'avx3'; unset it"), std::string::npos) << message;
  }
}

TEST(DispatchTest, EveryDTypeHasAKernelOrIsCountedByBytes) {
  for (const KernelTable* kernels : available_kernels()) {
    for (const DType dtype : testing::all_dtypes()) {
      const bool by_bytes = is_floating(dtype) && dtype_size(dtype) == 1;
      EXPECT_EQ(kernels->span[static_cast<std::size_t>(dtype)] == nullptr, by_bytes) << dtype_name(dtype);
    }
  }
}

// The span kernel that compute() would call is swapped for a counter: proof that a table's kernels are the ones that run.
int calls = 0;
void counting_span(const void* elements, std::int64_t count, Partial& into) {
  ++calls;
  kBaselineKernels.span[static_cast<std::size_t>(DType::kFloat32)](elements, count, into);
}

TEST(DispatchTest, TheGivenTableRuns) {
  KernelTable table = kBaselineKernels;
  table.span[static_cast<std::size_t>(DType::kFloat32)] = counting_span;
  const float value = 3;
  EXPECT_EQ(compute_with(table, {&value, DType::kFloat32, {}, {}}).max.real, 3);
  EXPECT_EQ(calls, 1);
}

TEST(ForcedTarget, IsTheOneThatRuns) {
  const char* wanted = std::getenv(kTargetVariable);  // NOLINT(concurrency-mt-unsafe)
  const std::vector<float> values(1000, 1.5F);
  const auto tensor = testing::tensor_of(DType::kFloat32, values);
  if (wanted == nullptr) {
    EXPECT_EQ(&active_kernels(), available_kernels().back());
    return;
  }
  for (const KernelTable* kernels : available_kernels()) {
    if (kernels->name == wanted) {
      EXPECT_EQ(&active_kernels(), kernels);
      EXPECT_TRUE(testing::identical(compute(tensor.view()), compute_with(*kernels, tensor.view())));
      return;
    }
  }
  EXPECT_THROW(compute(tensor.view()), Error) << "this CPU has no " << wanted;
}

}  // namespace
}  // namespace msprobe::stats

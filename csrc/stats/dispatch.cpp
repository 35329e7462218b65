// SPDX-License-Identifier: Apache-2.0
// Asks the CPU what it has, and the environment what is wanted.
#include "stats/dispatch.h"

#include <cstdlib>
#include <sstream>

#include "base/error.h"

namespace msprobe::stats {

std::vector<const KernelTable*> available_kernels() {
  std::vector<const KernelTable*> kernels{&kBaselineKernels};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
    kernels.push_back(&kAvx2Kernels);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      kernels.push_back(&kAvx512Kernels);
    }
  }
#endif
  return kernels;
}

const KernelTable& choose_kernels(const char* wanted) {
  const std::vector<const KernelTable*> available = available_kernels();
  if (wanted == nullptr || *wanted == '\0') {
    return *available.back();
  }
  std::ostringstream names;
  for (const KernelTable* kernels : available) {
    if (kernels->name == wanted) {
      return *kernels;
    }
    names << (names.tellp() == 0 ? "" : ", ") << kernels->name;
  }
  fail(kTargetVariable, " must name a target that this CPU has (", names.str(), "), got '", wanted,
       "'; unset it to take the widest");
}

const KernelTable& active_kernels() {
  static const KernelTable& chosen = choose_kernels(std::getenv(kTargetVariable));  // NOLINT(concurrency-mt-unsafe)
  return chosen;
}

}  // namespace msprobe::stats

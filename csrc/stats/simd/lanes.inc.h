// SPDX-License-Identifier: Apache-2.0
// Vector types and the few operations that differ between targets. Included once by each target_*.cpp, after it has defined
//   MSPROBE_SIMD_NAMESPACE  the namespace that keeps its functions apart from the other targets'
//   MSPROBE_SIMD_BYTES      the width of a register
//   MSPROBE_SIMD_TARGET     the target attribute, inside [[...]]; gnu::unused-like no-op for the baseline
// No guard against double inclusion on purpose. Every function is always_inline and carries the target attribute: nothing that
// is compiled for AVX can be merged by the linker into code that runs on any CPU.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

// No `inline`: clang-tidy and the compilers take always_inline templates as they are.
#define MSPROBE_SIMD [[gnu::always_inline, MSPROBE_SIMD_TARGET]] inline

template <class T, std::size_t kBytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));  // NOLINT(modernize-use-using): attributes on aliases are ignored
};

template <class T>
using Native = typename VectorOf<T, MSPROBE_SIMD_BYTES>::type;
template <class T>
using Half = typename VectorOf<T, MSPROBE_SIMD_BYTES / 2>::type;
template <class T>
using Quarter = typename VectorOf<T, MSPROBE_SIMD_BYTES / 4>::type;

template <class T>
inline constexpr std::int64_t kNativeLanes = MSPROBE_SIMD_BYTES / sizeof(T);

// A vector that lies at any address. (Read as such because g++ 12 for aarch64 copies a memcpy through general registers.)
template <class Vector>
struct Unaligned {
  typedef Vector type __attribute__((aligned(1), may_alias));  // NOLINT(modernize-use-using)
};

template <class Vector>
MSPROBE_SIMD void load_vector(const void* from, Vector& to) {
  to = *static_cast<const typename Unaligned<Vector>::type*>(from);
}

// Hardware prefetchers stop at the end of a page of 4096 bytes; the processor looks too few iterations ahead to start the next
// page in time. Asking four pages ahead makes a tensor in main memory a third faster to read (fp32 on Zen 5: 1.24 to 0.82 ms
// for 40 MB) and costs nothing in the caches. An address beyond the tensor's end does no harm.
inline constexpr std::int64_t kPrefetchBytes = 16384;

MSPROBE_SIMD void prefetch_ahead(const std::byte* from) { __builtin_prefetch(from + kPrefetchBytes); }

template <class Vector, class Other>
MSPROBE_SIMD void bits_of(const Other& from, Vector& to) {
  static_assert(sizeof(Vector) == sizeof(Other));
  __builtin_memcpy(&to, &from, sizeof to);
}

template <class Vector>
MSPROBE_SIMD void take_max(Vector& into, const Vector& value) {
  into = value > into ? value : into;
}

template <class Vector>
MSPROBE_SIMD void take_min(Vector& into, const Vector& value) {
  into = value < into ? value : into;
}

// sum + error == the exact sum of what was added, as long as the errors themselves add up exactly.
template <class Vector>
MSPROBE_SIMD void add_exact(Vector& sum, Vector& error, const Vector& value) {
  const Vector total = sum + value;
  const Vector part = total - sum;
  error += (sum - (total - part)) + (value - part);
  sum = total;
}

// --- the end of a span: lanes into one number, always in the same order --------------------------------------

template <std::size_t kCount>
MSPROBE_SIMD double fold_sum(std::array<double, kCount>& lanes) {
  for (std::size_t half = kCount / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      lanes[lane] += lanes[lane + half];
    }
  }
  return lanes[0];
}

// Folds sums with their errors; leaves the total in lane 0 of both.
template <std::size_t kCount>
MSPROBE_SIMD DoubleDouble fold_exact(std::array<double, kCount>& sums, std::array<double, kCount>& errors) {
  for (std::size_t half = kCount / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      add_exact(sums[lane], errors[lane], sums[lane + half]);
      errors[lane] += errors[lane + half];
    }
  }
  return {sums[0], errors[0]};
}

template <class Lane>
MSPROBE_SIMD Lane fold_max(const Native<Lane>& lanes) {
  Lane best = lanes[0];
  for (std::int64_t lane = 1; lane < kNativeLanes<Lane>; ++lane) {
    take_max(best, static_cast<Lane>(lanes[lane]));
  }
  return best;
}

template <class Lane>
MSPROBE_SIMD Lane fold_min(const Native<Lane>& lanes) {
  Lane best = lanes[0];
  for (std::int64_t lane = 1; lane < kNativeLanes<Lane>; ++lane) {
    take_min(best, static_cast<Lane>(lanes[lane]));
  }
  return best;
}

template <class Lane>
MSPROBE_SIMD std::int64_t fold_count(const Native<Lane>& lanes) {
  std::int64_t total = 0;
  for (std::int64_t lane = 0; lane < kNativeLanes<Lane>; ++lane) {
    total += lanes[lane];
  }
  return total;
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

// SPDX-License-Identifier: Apache-2.0
// Complex types, by magnitude: magnitudes are made a few at a time and go through the float64 kernel. See lanes.inc.h for how
// this file is included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

// Magnitudes made at a time: with their components they fit the first-level cache.
inline constexpr std::int64_t kMagnitudes = 512;

using Components = std::array<double, 2 * kMagnitudes>;

// Components of 32 bits and fewer, widened.
template <class Source>
struct NarrowComponents {
  static constexpr std::int64_t kComplexBytes = 2 * sizeof(typename Source::Storage);

  MSPROBE_SIMD static void load(const std::byte* from, std::int64_t count, Components& to) {
    constexpr std::int64_t kLanes = kNativeLanes<float>;
    constexpr std::int64_t kSize = sizeof(typename Source::Storage);
    double* out = to.data();
    std::int64_t left = 2 * count;
    for (; left > 0; left -= kLanes, from += kLanes * kSize, out += kLanes) {
      Native<float> value;
      if (left >= kLanes) {
        Source::load(from, value);
      } else {
        std::array<std::byte, kLanes * kSize> padded{};
        __builtin_memcpy(padded.data(), from, static_cast<std::size_t>(left * kSize));
        Source::load(padded.data(), value);
      }
      Native<double> wide[2];
      widen(value, wide[0], wide[1]);
      __builtin_memcpy(out, wide, sizeof wide);
    }
  }
};

struct DoubleComponents {
  static constexpr std::int64_t kComplexBytes = 16;

  MSPROBE_SIMD static void load(const std::byte* from, std::int64_t count, Components& to) {
    __builtin_memcpy(to.data(), from, static_cast<std::size_t>(count * kComplexBytes));
  }
};

// Squares of such magnitudes neither overflow nor lose bits, whichever component they come from.
MSPROBE_SIMD bool squares_are_safe(double magnitude) { return magnitude < kHugeBound && magnitude >= kTinyBound; }

template <class Source>
MSPROBE_SIMD void accumulate_complex(const void* elements, std::int64_t count, Partial& into) {
  const auto* from = static_cast<const std::byte*>(elements);
  Components components;
  std::array<double, kMagnitudes> magnitudes;
  while (count > 0) {
    const std::int64_t some = count < kMagnitudes ? count : kMagnitudes;
    Source::load(from, some, components);
    std::int64_t unsafe = 0;
    for (std::int64_t index = 0; index < some; ++index) {
      const double real = components[2 * index];
      const double imaginary = components[2 * index + 1];
      magnitudes[index] = __builtin_sqrt(real * real + imaginary * imaginary);
      unsafe += squares_are_safe(magnitudes[index]) ? 0 : 1;
    }
    if (unsafe > 0) {
      // hypot: exact to the last bits at any size, and infinity wins over NaN.
      for (std::int64_t index = 0; index < some; ++index) {
        if (!squares_are_safe(magnitudes[index])) {
          magnitudes[index] = std::hypot(components[2 * index], components[2 * index + 1]);
        }
      }
    }
    accumulate_doubles(magnitudes.data(), some, into);
    from += some * Source::kComplexBytes;
    count -= some;
  }
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

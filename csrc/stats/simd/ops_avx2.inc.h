// SPDX-License-Identifier: Apache-2.0
// The conversions that AVX2 and F16C have instructions for.
// See lanes.inc.h for how this file is included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

MSPROBE_SIMD void widen(const Native<float>& from, Native<double>& low, Native<double>& high) {
  const __m256 lanes = reinterpret_cast<const __m256&>(from);
  low = _mm256_cvtps_pd(_mm256_castps256_ps128(lanes));
  high = _mm256_cvtps_pd(_mm256_extractf128_ps(lanes, 1));
}
MSPROBE_SIMD void widen(const Native<std::int32_t>& from, Native<double>& low, Native<double>& high) {
  const __m256i lanes = reinterpret_cast<const __m256i&>(from);
  low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(lanes));
  high = _mm256_cvtepi32_pd(_mm256_extracti128_si256(lanes, 1));
}
MSPROBE_SIMD void widen(const Native<std::uint32_t>& from, Native<double>& low, Native<double>& high) {
  // AVX2 converts signed lanes only: move the range down by 2^31 and back.
  Native<std::int32_t> shifted;
  bits_of(from ^ 0x80000000U, shifted);
  widen(shifted, low, high);
  low += 0x1p31;
  high += 0x1p31;
}

MSPROBE_SIMD void expand(const Quarter<std::uint8_t>& from, Native<std::int32_t>& to) {
  long long elements = 0;
  bits_of(from, elements);
  bits_of(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(elements)), to);
}
MSPROBE_SIMD void expand(const Quarter<std::int8_t>& from, Native<std::int32_t>& to) {
  long long elements = 0;
  bits_of(from, elements);
  bits_of(_mm256_cvtepi8_epi32(_mm_cvtsi64_si128(elements)), to);
}
MSPROBE_SIMD void expand(const Half<std::uint16_t>& from, Native<std::int32_t>& to) {
  Half<long long> elements;
  bits_of(from, elements);
  bits_of(_mm256_cvtepu16_epi32(elements), to);
}
MSPROBE_SIMD void expand(const Half<std::int16_t>& from, Native<std::int32_t>& to) {
  Half<long long> elements;
  bits_of(from, elements);
  bits_of(_mm256_cvtepi16_epi32(elements), to);
}

MSPROBE_SIMD void expand_float16(const Half<std::uint16_t>& from, Native<float>& to) {
  Half<long long> codes;
  bits_of(from, codes);
  to = _mm256_cvtph_ps(codes);
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

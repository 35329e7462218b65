// SPDX-License-Identifier: Apache-2.0
// The conversions that AVX-512 has instructions for.
// See lanes.inc.h for how this file is included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

template <class Lane>
MSPROBE_SIMD void split(const Native<Lane>& from, Half<Lane>& low, Half<Lane>& high) {
  low = __builtin_shufflevector(from, from, 0, 1, 2, 3, 4, 5, 6, 7);
  high = __builtin_shufflevector(from, from, 8, 9, 10, 11, 12, 13, 14, 15);
}
// Zero-masked forms with every lane on, because g++ 12 warns that the plain ones read something uninitialised
// (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105593). Both become the same instruction.
constexpr __mmask8 kAllDoubles = 0xFF;
constexpr __mmask16 kAllLanes = 0xFFFF;

MSPROBE_SIMD void widen(const Native<float>& from, Native<double>& low, Native<double>& high) {
  Half<float> halves[2];
  split<float>(from, halves[0], halves[1]);
  low = _mm512_maskz_cvtps_pd(kAllDoubles, halves[0]);
  high = _mm512_maskz_cvtps_pd(kAllDoubles, halves[1]);
}
MSPROBE_SIMD void widen(const Native<std::int32_t>& from, Native<double>& low, Native<double>& high) {
  Half<std::int32_t> halves[2];
  split<std::int32_t>(from, halves[0], halves[1]);
  low = _mm512_maskz_cvtepi32_pd(kAllDoubles, reinterpret_cast<const __m256i&>(halves[0]));
  high = _mm512_maskz_cvtepi32_pd(kAllDoubles, reinterpret_cast<const __m256i&>(halves[1]));
}
MSPROBE_SIMD void widen(const Native<std::uint32_t>& from, Native<double>& low, Native<double>& high) {
  Half<std::uint32_t> halves[2];
  split<std::uint32_t>(from, halves[0], halves[1]);
  low = _mm512_maskz_cvtepu32_pd(kAllDoubles, reinterpret_cast<const __m256i&>(halves[0]));
  high = _mm512_maskz_cvtepu32_pd(kAllDoubles, reinterpret_cast<const __m256i&>(halves[1]));
}

MSPROBE_SIMD void expand(const Quarter<std::uint8_t>& from, Native<std::int32_t>& to) {
  Quarter<long long> elements;
  bits_of(from, elements);
  bits_of(_mm512_maskz_cvtepu8_epi32(kAllLanes, elements), to);
}
MSPROBE_SIMD void expand(const Quarter<std::int8_t>& from, Native<std::int32_t>& to) {
  Quarter<long long> elements;
  bits_of(from, elements);
  bits_of(_mm512_maskz_cvtepi8_epi32(kAllLanes, elements), to);
}
MSPROBE_SIMD void expand(const Half<std::uint16_t>& from, Native<std::int32_t>& to) {
  Half<long long> elements;
  bits_of(from, elements);
  bits_of(_mm512_maskz_cvtepu16_epi32(kAllLanes, elements), to);
}
MSPROBE_SIMD void expand(const Half<std::int16_t>& from, Native<std::int32_t>& to) {
  Half<long long> elements;
  bits_of(from, elements);
  bits_of(_mm512_maskz_cvtepi16_epi32(kAllLanes, elements), to);
}

MSPROBE_SIMD void expand_float16(const Half<std::uint16_t>& from, Native<float>& to) {
  Half<long long> codes;
  bits_of(from, codes);
  to = _mm512_maskz_cvtph_ps(kAllLanes, codes);
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

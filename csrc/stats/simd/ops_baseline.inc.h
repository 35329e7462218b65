// SPDX-License-Identifier: Apache-2.0
// The conversions, written for any CPU.
// See lanes.inc.h for how this file is included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

template <class Lane>
MSPROBE_SIMD void widen_halves(const Native<Lane>& from, Native<double>& low, Native<double>& high) {
  Half<Lane> halves[2];
  __builtin_memcpy(halves, &from, sizeof halves);
  low = __builtin_convertvector(halves[0], Native<double>);
  high = __builtin_convertvector(halves[1], Native<double>);
}
MSPROBE_SIMD void widen(const Native<float>& from, Native<double>& low, Native<double>& high) {
  widen_halves<float>(from, low, high);
}
MSPROBE_SIMD void widen(const Native<std::int32_t>& from, Native<double>& low, Native<double>& high) {
  widen_halves<std::int32_t>(from, low, high);
}
MSPROBE_SIMD void widen(const Native<std::uint32_t>& from, Native<double>& low, Native<double>& high) {
  widen_halves<std::uint32_t>(from, low, high);
}

MSPROBE_SIMD void expand(const Quarter<std::uint8_t>& from, Native<std::int32_t>& to) {
  to = __builtin_convertvector(from, Native<std::int32_t>);
}
MSPROBE_SIMD void expand(const Quarter<std::int8_t>& from, Native<std::int32_t>& to) {
  to = __builtin_convertvector(from, Native<std::int32_t>);
}
MSPROBE_SIMD void expand(const Half<std::uint16_t>& from, Native<std::int32_t>& to) {
  to = __builtin_convertvector(from, Native<std::int32_t>);
}
MSPROBE_SIMD void expand(const Half<std::int16_t>& from, Native<std::int32_t>& to) {
  to = __builtin_convertvector(from, Native<std::int32_t>);
}

MSPROBE_SIMD void expand_float16(const Half<std::uint16_t>& from, Native<float>& to) {
  Native<std::int32_t> wide;
  expand(from, wide);
  // Exponent and mantissa in float32's places make the value times 2^-112 (127 - 15), denormals included; the product is
  // exact. Where the exponent is all ones the value is no number: float32's exponent must be all ones as well.
  Native<float> magnitude;
  bits_of((wide & 0x7FFF) << 13, magnitude);
  magnitude *= 0x1p112F;
  Native<std::int32_t> bits;
  bits_of(magnitude, bits);
  const Native<std::int32_t> special = ((wide & 0x7C00) == 0x7C00) & 0x7F800000;
  const Native<std::int32_t> sign = (wide & 0x8000) << 16;
  bits_of(bits | special | sign, to);
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

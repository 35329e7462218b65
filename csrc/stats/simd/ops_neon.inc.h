// SPDX-License-Identifier: Apache-2.0
// The conversions that NEON on aarch64 has instructions for. (From the generic form g++ 12 makes code that goes through memory.)
// See lanes.inc.h for how this file is included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

MSPROBE_SIMD void widen(const Native<float>& from, Native<double>& low, Native<double>& high) {
  float32x4_t lanes;
  bits_of(from, lanes);
  bits_of(vcvt_f64_f32(vget_low_f32(lanes)), low);
  bits_of(vcvt_high_f64_f32(lanes), high);
}
MSPROBE_SIMD void widen(const Native<std::int32_t>& from, Native<double>& low, Native<double>& high) {
  int32x4_t lanes;
  bits_of(from, lanes);
  bits_of(vcvtq_f64_s64(vmovl_s32(vget_low_s32(lanes))), low);
  bits_of(vcvtq_f64_s64(vmovl_high_s32(lanes)), high);
}
MSPROBE_SIMD void widen(const Native<std::uint32_t>& from, Native<double>& low, Native<double>& high) {
  uint32x4_t lanes;
  bits_of(from, lanes);
  bits_of(vcvtq_f64_u64(vmovl_u32(vget_low_u32(lanes))), low);
  bits_of(vcvtq_f64_u64(vmovl_high_u32(lanes)), high);
}

MSPROBE_SIMD void expand(const Quarter<std::uint8_t>& from, Native<std::int32_t>& to) {
  std::uint32_t elements = 0;
  bits_of(from, elements);
  bits_of(vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(elements)))), to);
}
MSPROBE_SIMD void expand(const Quarter<std::int8_t>& from, Native<std::int32_t>& to) {
  std::uint32_t elements = 0;
  bits_of(from, elements);
  bits_of(vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(elements)))), to);
}
MSPROBE_SIMD void expand(const Half<std::uint16_t>& from, Native<std::int32_t>& to) {
  uint16x4_t elements;
  bits_of(from, elements);
  bits_of(vmovl_u16(elements), to);
}
MSPROBE_SIMD void expand(const Half<std::int16_t>& from, Native<std::int32_t>& to) {
  int16x4_t elements;
  bits_of(from, elements);
  bits_of(vmovl_s16(elements), to);
}

MSPROBE_SIMD void expand_float16(const Half<std::uint16_t>& from, Native<float>& to) {
  float16x4_t codes;
  bits_of(from, codes);
  bits_of(vcvt_f32_f16(codes), to);
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

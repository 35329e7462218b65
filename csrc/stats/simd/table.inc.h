// SPDX-License-Identifier: Apache-2.0
// One target's functions, one a dtype, and the function that puts them into its table. See lanes.inc.h for how this file is
// included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

// always_inline kernels end here: these are the only functions of a target that exist as symbols.
#define MSPROBE_SIMD_KERNEL(name, ...)                                                                \
  [[MSPROBE_SIMD_TARGET]] static void name(const void* elements, std::int64_t count, Partial& into) { \
    __VA_ARGS__(elements, count, into);                                                               \
  }

MSPROBE_SIMD_KERNEL(bool_span, accumulate_narrow_integers<BoolSource>)
MSPROBE_SIMD_KERNEL(uint8_span, accumulate_narrow_integers<UInt8Source>)
MSPROBE_SIMD_KERNEL(int8_span, accumulate_narrow_integers<Int8Source>)
MSPROBE_SIMD_KERNEL(uint16_span, accumulate_narrow_integers<UInt16Source>)
MSPROBE_SIMD_KERNEL(int16_span, accumulate_narrow_integers<Int16Source>)
MSPROBE_SIMD_KERNEL(uint32_span, accumulate_narrow_integers<UInt32Source>)
MSPROBE_SIMD_KERNEL(int32_span, accumulate_narrow_integers<Int32Source>)
MSPROBE_SIMD_KERNEL(uint64_span, accumulate_wide_integers<std::uint64_t>)
MSPROBE_SIMD_KERNEL(int64_span, accumulate_wide_integers<std::int64_t>)
MSPROBE_SIMD_KERNEL(float16_span, accumulate_floats<Float16Source>)
MSPROBE_SIMD_KERNEL(bfloat16_span, accumulate_floats<BFloat16Source>)
MSPROBE_SIMD_KERNEL(float32_span, accumulate_floats<Float32Source>)
MSPROBE_SIMD_KERNEL(float64_span, accumulate_doubles)
MSPROBE_SIMD_KERNEL(complex32_span, accumulate_complex<NarrowComponents<Float16Source>>)
MSPROBE_SIMD_KERNEL(complex64_span, accumulate_complex<NarrowComponents<Float32Source>>)
MSPROBE_SIMD_KERNEL(complex128_span, accumulate_complex<DoubleComponents>)

#undef MSPROBE_SIMD_KERNEL

constexpr KernelTable make_table(Target target, std::string_view name) {
  KernelTable table{target, name, MSPROBE_SIMD_BYTES, {}};
  const auto set = [&table](DType dtype, SpanKernel kernel) { table.span[static_cast<std::size_t>(dtype)] = kernel; };
  set(DType::kBool, bool_span);
  set(DType::kUInt8, uint8_span);
  set(DType::kInt8, int8_span);
  set(DType::kUInt16, uint16_span);
  set(DType::kInt16, int16_span);
  set(DType::kUInt32, uint32_span);
  set(DType::kInt32, int32_span);
  set(DType::kUInt64, uint64_span);
  set(DType::kInt64, int64_span);
  set(DType::kFloat16, float16_span);
  set(DType::kBFloat16, bfloat16_span);
  set(DType::kFloat32, float32_span);
  set(DType::kFloat64, float64_span);
  set(DType::kComplex32, complex32_span);
  set(DType::kComplex64, complex64_span);
  set(DType::kComplex128, complex128_span);
  return table;
}

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

// SPDX-License-Identifier: Apache-2.0
// How elements in memory become vectors of 32-bit lanes. A Source has
//   Storage  the type in memory      Lane  float, std::int32_t or std::uint32_t
//   load()   reads kNativeLanes<Lane> elements
// See lanes.inc.h for how this file is included.
namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE {

struct Float32Source {
  using Storage = float;
  using Lane = float;
  MSPROBE_SIMD static void load(const std::byte* from, Native<float>& to) { load_vector(from, to); }
};

struct BFloat16Source {
  using Storage = std::uint16_t;
  using Lane = float;
  MSPROBE_SIMD static void load(const std::byte* from, Native<float>& to) {
    Half<std::uint16_t> codes;
    load_vector(from, codes);
    Native<std::int32_t> wide;
    expand(codes, wide);
    bits_of(wide << 16, to);  // a bfloat16 is the upper half of a float32
  }
};

struct Float16Source {
  using Storage = std::uint16_t;
  using Lane = float;
  MSPROBE_SIMD static void load(const std::byte* from, Native<float>& to) {
    Half<std::uint16_t> codes;
    load_vector(from, codes);
    expand_float16(codes, to);
  }
};

// Integers of up to 16 bits fit int32 lanes, whatever their sign.
template <class Integer, class Loaded>
struct IntegerSource {
  using Storage = Integer;
  using Lane = std::int32_t;
  MSPROBE_SIMD static void load(const std::byte* from, Native<std::int32_t>& to) {
    Loaded elements;
    load_vector(from, elements);
    expand(elements, to);
  }
};
using Int8Source = IntegerSource<std::int8_t, Quarter<std::int8_t>>;
using UInt8Source = IntegerSource<std::uint8_t, Quarter<std::uint8_t>>;
using Int16Source = IntegerSource<std::int16_t, Half<std::int16_t>>;
using UInt16Source = IntegerSource<std::uint16_t, Half<std::uint16_t>>;

// Any byte but 0 is true.
struct BoolSource {
  using Storage = std::uint8_t;
  using Lane = std::int32_t;
  MSPROBE_SIMD static void load(const std::byte* from, Native<std::int32_t>& to) {
    Native<std::int32_t> codes;
    UInt8Source::load(from, codes);
    to = (codes != 0) & 1;
  }
};

struct Int32Source {
  using Storage = std::int32_t;
  using Lane = std::int32_t;
  MSPROBE_SIMD static void load(const std::byte* from, Native<std::int32_t>& to) { load_vector(from, to); }
};

struct UInt32Source {
  using Storage = std::uint32_t;
  using Lane = std::uint32_t;
  MSPROBE_SIMD static void load(const std::byte* from, Native<std::uint32_t>& to) { load_vector(from, to); }
};

}  // namespace msprobe::stats::MSPROBE_SIMD_NAMESPACE

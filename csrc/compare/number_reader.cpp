// SPDX-License-Identifier: Apache-2.0
// Conversions from every dtype to the four types that numbers are compared in.
#include "compare/number_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "format/small_float.h"

namespace msprobe::compare {
namespace {

using ByteTable = std::array<float, 256>;

template <class Decode>
constexpr ByteTable make_table(Decode decode) {
  ByteTable table{};
  for (std::size_t code = 0; code < table.size(); ++code) {
    table[code] = static_cast<float>(decode(static_cast<std::uint8_t>(code)));
  }
  return table;
}

// The values of a one-byte floating format; every one is exact in a float.
const ByteTable& byte_table(DType dtype) noexcept {
  static constexpr ByteTable kE4M3FN =
      make_table([](std::uint8_t code) { return decode_small_float(kFloat8E4M3FNFormat, code); });
  static constexpr ByteTable kE4M3FNUZ =
      make_table([](std::uint8_t code) { return decode_small_float(kFloat8E4M3FNUZFormat, code); });
  static constexpr ByteTable kE5M2 = make_table([](std::uint8_t code) { return decode_small_float(kFloat8E5M2Format, code); });
  static constexpr ByteTable kE5M2FNUZ =
      make_table([](std::uint8_t code) { return decode_small_float(kFloat8E5M2FNUZFormat, code); });
  static constexpr ByteTable kE8M0 = make_table([](std::uint8_t code) { return decode_e8m0(code); });
  static constexpr ByteTable kE2M1 =
      make_table([](std::uint8_t code) { return decode_small_float(kFloat4E2M1FNFormat, code); });
  switch (dtype) {
    case DType::kFloat8E4M3FN:
      return kE4M3FN;
    case DType::kFloat8E4M3FNUZ:
      return kE4M3FNUZ;
    case DType::kFloat8E5M2:
      return kE5M2;
    case DType::kFloat8E5M2FNUZ:
      return kE5M2FNUZ;
    case DType::kFloat8E8M0FNU:
      return kE8M0;
    default:
      return kE2M1;  // one nibble: the upper bits of the code are not looked at
  }
}

template <class From, class To>
void widen_numbers(const std::byte* raw, std::int64_t count, To* to) noexcept {
  for (std::int64_t index = 0; index < count; ++index) {
    From number;
    std::memcpy(&number, raw + index * static_cast<std::int64_t>(sizeof number), sizeof number);
    to[index] = static_cast<To>(number);  // NOLINT(bugprone-signed-char-misuse): an int8 is a number, not a character
  }
}

template <class To>
void widen_bools(const std::byte* raw, std::int64_t count, To* to) noexcept {
  for (std::int64_t index = 0; index < count; ++index) {
    to[index] = static_cast<To>(raw[index] != std::byte{0} ? 1 : 0);  // any byte but 0 is true
  }
}

// bool and integers. False: another dtype.
template <class To>
bool widen_integers(DType dtype, const std::byte* raw, std::int64_t count, To* to) noexcept {
  switch (dtype) {
    case DType::kBool:
      widen_bools(raw, count, to);
      return true;
    case DType::kUInt8:
      widen_numbers<std::uint8_t>(raw, count, to);
      return true;
    case DType::kInt8:
      widen_numbers<std::int8_t>(raw, count, to);
      return true;
    case DType::kUInt16:
      widen_numbers<std::uint16_t>(raw, count, to);
      return true;
    case DType::kInt16:
      widen_numbers<std::int16_t>(raw, count, to);
      return true;
    case DType::kUInt32:
      widen_numbers<std::uint32_t>(raw, count, to);
      return true;
    case DType::kInt32:
      widen_numbers<std::int32_t>(raw, count, to);
      return true;
    case DType::kUInt64:
      widen_numbers<std::uint64_t>(raw, count, to);
      return true;
    case DType::kInt64:
      widen_numbers<std::int64_t>(raw, count, to);
      return true;
    default:
      return false;
  }
}

// Floating types up to float32.
void to_floats(DType dtype, const std::byte* raw, std::int64_t items, const PairKernels& kernels, float* to) noexcept {
  switch (dtype) {
    case DType::kFloat32:
      std::memcpy(to, raw, static_cast<std::size_t>(items) * sizeof(float));
      return;
    case DType::kFloat16:
    case DType::kComplex32:
      kernels.widen_float16(raw, items, to);
      return;
    case DType::kBFloat16:
      kernels.widen_bfloat16(raw, items, to);
      return;
    default:
      break;
  }
  const ByteTable& table = byte_table(dtype);
  if (dtype == DType::kFloat4E2M1FNX2) {
    for (std::int64_t item = 0; item < items; ++item) {
      const auto code = std::to_integer<unsigned>(raw[item]);
      to[2 * item] = table[code & 0xFU];
      to[2 * item + 1] = table[code >> 4U];
    }
    return;
  }
  for (std::int64_t item = 0; item < items; ++item) {
    to[item] = table[std::to_integer<std::size_t>(raw[item])];
  }
}

// Every type that is not complex, and not packed.
void to_doubles(DType dtype, const std::byte* raw, std::int64_t count, const PairKernels& kernels, double* to) noexcept {
  if (dtype == DType::kFloat64) {
    std::memcpy(to, raw, static_cast<std::size_t>(count) * sizeof(double));
    return;
  }
  if (widen_integers(dtype, raw, count, to)) {
    return;
  }
  constexpr std::int64_t kPiece = 512;
  std::array<float, kPiece> piece;  // NOLINT(*-member-init): filled as far as it is read
  const auto item_size = static_cast<std::int64_t>(dtype == DType::kComplex32 ? sizeof(std::uint16_t) : dtype_size(dtype));
  for (std::int64_t first = 0; first < count; first += kPiece) {
    const std::int64_t items = std::min(kPiece, count - first);
    to_floats(dtype, raw + first * item_size, items, kernels, piece.data());
    std::copy_n(piece.data(), items, to + first);
  }
}

void to_complex(DType dtype, const std::byte* raw, std::int64_t count, const PairKernels& kernels, double* to) noexcept {
  switch (dtype) {
    case DType::kComplex128:
      std::memcpy(to, raw, static_cast<std::size_t>(count) * 2 * sizeof(double));
      return;
    case DType::kComplex64:
      widen_numbers<float>(raw, 2 * count, to);
      return;
    case DType::kComplex32:
      to_doubles(dtype, raw, 2 * count, kernels, to);
      return;
    default:
      break;
  }
  to_doubles(dtype, raw, count, kernels, to);
  for (std::int64_t index = count; index-- > 0;) {
    to[2 * index] = to[index];
    to[2 * index + 1] = 0;
  }
}

template <class Number>
void negate(Number* numbers, std::int64_t first, std::int64_t step, std::int64_t count) noexcept {
  for (std::int64_t index = first; index < count; index += step) {
    numbers[index] = -numbers[index];
  }
}

bool is_wide_integer(DType dtype) noexcept { return dtype == DType::kInt64 || dtype == DType::kUInt64; }

}  // namespace

Arithmetic common_arithmetic(DType target, DType golden) noexcept {
  if (is_complex(target) || is_complex(golden)) {
    return Arithmetic::kComplex;
  }
  if (is_integral(target) && is_integral(golden)) {
    return is_wide_integer(target) || is_wide_integer(golden) ? Arithmetic::kInteger : Arithmetic::kDouble;
  }
  const bool narrow = is_floating(target) && is_floating(golden) && target != DType::kFloat64 && golden != DType::kFloat64;
  return narrow ? Arithmetic::kFloat : Arithmetic::kDouble;
}

std::int64_t numbers_in_item(DType dtype) noexcept { return dtype == DType::kFloat4E2M1FNX2 ? 2 : 1; }

NumberReader::NumberReader(const read::PtTensor& tensor, Arithmetic arithmetic, const PairKernels& kernels)
    : dtype_(tensor.dtype()),
      arithmetic_(arithmetic),
      kernels_(&kernels),
      negated_(tensor.description().negated),
      conjugated_(tensor.description().conjugated && is_complex(dtype_)),
      as_stored_(!negated_ && !conjugated_ &&
                 ((arithmetic == Arithmetic::kFloat && dtype_ == DType::kFloat32) ||
                  (arithmetic == Arithmetic::kDouble && dtype_ == DType::kFloat64) ||
                  (arithmetic == Arithmetic::kComplex && dtype_ == DType::kComplex128))),
      runs_(tensor),
      raw_(new std::byte[kBufferBytes]),
      numbers_(new std::byte[kBufferBytes]) {}

const void* NumberReader::read(std::int64_t first_item, std::int64_t items) noexcept {
  const std::byte* const raw = runs_.fetch(first_item, items, raw_.get());
  if (as_stored_) {
    return raw;
  }
  convert(raw, items);
  return numbers_.get();
}

void NumberReader::convert(const std::byte* raw, std::int64_t items) noexcept {
  auto* const doubles = reinterpret_cast<double*>(numbers_.get());
  switch (arithmetic_) {
    case Arithmetic::kFloat: {
      auto* const floats = reinterpret_cast<float*>(numbers_.get());
      to_floats(dtype_, raw, items, *kernels_, floats);
      negate(floats, 0, 1, negated_ ? items * numbers_in_item(dtype_) : 0);
      return;
    }
    case Arithmetic::kDouble:
      to_doubles(dtype_, raw, items, *kernels_, doubles);
      negate(doubles, 0, 1, negated_ ? items : 0);
      return;
    case Arithmetic::kInteger: {
      auto* const integers = reinterpret_cast<Int128*>(numbers_.get());
      widen_integers(dtype_, raw, items, integers);
      negate(integers, 0, 1, negated_ ? items : 0);
      return;
    }
    case Arithmetic::kComplex:
      to_complex(dtype_, raw, items, *kernels_, doubles);
      negate(doubles, 0, 1, negated_ ? 2 * items : 0);
      negate(doubles, 1, 2, conjugated_ ? 2 * items : 0);
      return;
  }
}

void* NumberReader::writable_bytes(const void* numbers, std::size_t bytes) noexcept {
  if (numbers != numbers_.get()) {
    std::memcpy(numbers_.get(), numbers, bytes);
  }
  return numbers_.get();
}

}  // namespace msprobe::compare

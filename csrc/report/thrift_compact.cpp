// SPDX-License-Identifier: Apache-2.0
// Thrift's compact protocol: field heads hold the distance to the field before, numbers are zigzag varints.
#include "report/thrift_compact.h"

#include <cassert>

namespace msprobe::report {
namespace {

constexpr unsigned kTypeBits = 4;
constexpr std::size_t kLongList = 15;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}

}  // namespace

void ThriftWriter::varint(std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) {
    out_ += static_cast<char>((value & 0x7FU) | 0x80U);
  }
  out_ += static_cast<char>(value);
}

// The long form, for distances above 15, is not needed: no struct of Parquet has such a gap.
void ThriftWriter::head(int field, Type type) {
  const int distance = field - last_fields_.back();
  assert(distance > 0 && distance <= 15);
  out_ += static_cast<char>((static_cast<unsigned>(distance) << kTypeBits) | static_cast<unsigned>(type));
  last_fields_.back() = field;
}

void ThriftWriter::i32(int field, std::int32_t value) {
  head(field, Type::kI32);
  varint(zigzag(value));
}

void ThriftWriter::i64(int field, std::int64_t value) {
  head(field, Type::kI64);
  varint(zigzag(value));
}

void ThriftWriter::binary(int field, std::string_view bytes) {
  head(field, Type::kBinary);
  element(bytes);
}

void ThriftWriter::begin_struct(int field) {
  head(field, Type::kStruct);
  begin_struct();
}

void ThriftWriter::begin_struct() { last_fields_.push_back(0); }

void ThriftWriter::end_struct() {
  out_ += '\0';
  last_fields_.pop_back();
}

void ThriftWriter::empty_struct(int field) {
  begin_struct(field);
  end_struct();
}

void ThriftWriter::begin_list(int field, Type element, std::size_t size) {
  head(field, Type::kList);
  if (size < kLongList) {
    out_ += static_cast<char>((size << kTypeBits) | static_cast<unsigned>(element));
  } else {
    out_ += static_cast<char>((kLongList << kTypeBits) | static_cast<unsigned>(element));
    varint(size);
  }
}

void ThriftWriter::element(std::int32_t value) { varint(zigzag(value)); }

void ThriftWriter::element(std::string_view bytes) {
  varint(bytes.size());
  out_ += bytes;
}

}  // namespace msprobe::report

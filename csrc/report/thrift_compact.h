// SPDX-License-Identifier: Apache-2.0
// Thrift's compact protocol, as much of it as the metadata of a Parquet file needs; for writing only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::report {

// Appends to `out`. Fields of a struct are written in ascending order of their numbers, which are those of parquet.thrift.
class ThriftWriter {
 public:
  enum class Type : std::uint8_t { kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  explicit ThriftWriter(std::string& out) : out_(out) {}

  void i32(int field, std::int32_t value);
  void i64(int field, std::int64_t value);
  void binary(int field, std::string_view bytes);

  void begin_struct(int field);  // a struct as a field
  void begin_struct();           // a struct as an element of a list, or the outermost one
  void end_struct();
  void empty_struct(int field);

  void begin_list(int field, Type element, std::size_t size);  // its elements follow; a list has no end
  void element(std::int32_t value);
  void element(std::string_view bytes);

 private:
  void head(int field, Type type);
  void varint(std::uint64_t value);

  std::string& out_;
  std::vector<int> last_fields_;  // one an open struct
};

}  // namespace msprobe::report

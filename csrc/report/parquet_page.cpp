// SPDX-License-Identifier: Apache-2.0
// Pages of a Parquet file: which values are there, the values, one gzip stream around both, a head before it.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "report/deflate.h"
#include "report/parquet_file.h"
#include "report/thrift_compact.h"

namespace msprobe::report {
namespace {

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian");

constexpr std::int32_t kDataPage = 0;  // the format's PageType

template <class Number>
void append_raw(std::string& out, Number number) {
  char bytes[sizeof(Number)];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

// Puts head and compressed values into the page, whose counts are filled in.
void finish_page(ParquetPage& page, const std::string& values) {
  constexpr std::size_t kLimit = std::numeric_limits<std::int32_t>::max();
  const std::string compressed = values.size() > kLimit ? std::string() : compressed_gzip(values);
  if (values.size() > kLimit || compressed.size() > kLimit) {
    fail("a block of ", page.rows, " rows has ", values.size(),
         " bytes in one column, and a page of a Parquet file has at most ", kLimit, "; use --format csv");
  }
  ThriftWriter head(page.bytes);
  head.begin_struct();  // PageHeader
  head.i32(1, kDataPage);
  head.i32(2, static_cast<std::int32_t>(values.size()));
  head.i32(3, static_cast<std::int32_t>(compressed.size()));
  head.begin_struct(5);  // DataPageHeader
  head.i32(1, static_cast<std::int32_t>(page.rows));
  head.i32(2, kParquetPlain);
  head.i32(3, kParquetRuns);
  head.i32(4, kParquetRuns);
  head.end_struct();
  head.end_struct();
  page.uncompressed = static_cast<std::int64_t>(page.bytes.size() + values.size());
  page.bytes += compressed;
}

// Which values are there: the length, then one run of bits, eight values a byte, the first in the lowest bit.
template <class Value>
std::string definition_levels(std::span<const std::optional<Value>> values) {
  std::string bits((values.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) {
      bits[i / 8] = static_cast<char>(static_cast<unsigned char>(bits[i / 8]) | (1U << (i % 8)));
    }
  }
  std::string run;
  for (std::uint64_t head = (static_cast<std::uint64_t>(bits.size()) << 1U) | 1U;; head >>= 7U) {
    run += static_cast<char>((head & 0x7FU) | (head >= 0x80U ? 0x80U : 0U));
    if (head < 0x80U) {
      break;
    }
  }
  std::string out;
  append_raw(out, static_cast<std::uint32_t>(run.size() + bits.size()));
  return out + run + bits;
}

template <class Value>
std::string plain_values(std::span<const std::optional<Value>> values, ParquetPage& page) {
  std::string out = definition_levels(values);
  out.reserve(out.size() + (values.size() * sizeof(Value)));
  page.rows = static_cast<std::int64_t>(values.size());
  for (const std::optional<Value>& value : values) {
    if (value) {
      append_raw(out, *value);
    } else {
      ++page.nulls;
    }
  }
  return out;
}

}  // namespace

ParquetPage text_page(std::span<const std::string> values) {
  ParquetPage page;
  page.rows = static_cast<std::int64_t>(values.size());
  std::string bytes;
  for (const std::string& value : values) {
    append_raw(bytes, static_cast<std::uint32_t>(value.size()));
    bytes += value;
  }
  finish_page(page, bytes);
  return page;
}

ParquetPage double_page(std::span<const std::optional<double>> values) {
  ParquetPage page;
  finish_page(page, plain_values(values, page));
  return page;
}

ParquetPage integer_page(std::span<const std::optional<std::int64_t>> values) {
  ParquetPage page;
  finish_page(page, plain_values(values, page));
  for (const std::optional<std::int64_t>& value : values) {
    if (value) {
      page.smallest = std::min(page.smallest.value_or(*value), *value);
      page.largest = std::max(page.largest.value_or(*value), *value);
    }
  }
  return page;
}

}  // namespace msprobe::report

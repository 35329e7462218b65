// SPDX-License-Identifier: Apache-2.0
// Counting of codes, and the tables of what the codes mean.
#include "stats/byte_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "format/small_float.h"

namespace msprobe::stats {
namespace {

using ValueTable = std::array<double, 256>;

constexpr ValueTable make_table(const SmallFloat& format) {
  ValueTable table{};
  for (std::uint32_t code = 0; code < table.size(); ++code) {
    table[code] = decode_small_float(format, code);
  }
  return table;
}

constexpr ValueTable make_e8m0_table() {
  ValueTable table{};
  for (std::uint32_t code = 0; code < table.size(); ++code) {
    table[code] = decode_e8m0(static_cast<std::uint8_t>(code));
  }
  return table;
}

constexpr ValueTable kE4M3FN = make_table(kFloat8E4M3FNFormat);
constexpr ValueTable kE4M3FNUZ = make_table(kFloat8E4M3FNUZFormat);
constexpr ValueTable kE5M2 = make_table(kFloat8E5M2Format);
constexpr ValueTable kE5M2FNUZ = make_table(kFloat8E5M2FNUZFormat);
constexpr ValueTable kE8M0FNU = make_e8m0_table();
constexpr ValueTable kE2M1FN = make_table(kFloat4E2M1FNFormat);  // only the first 16 codes are looked up

void add_value(double value, std::int64_t times, Partial& into) {
  if (std::isnan(value)) {
    into.nan += times;
    return;
  }
  into.real_max = std::max(into.real_max, value);
  into.real_min = std::min(into.real_min, value);
  if (std::isinf(value)) {
    (value > 0 ? into.pos_inf : into.neg_inf) += times;
    return;
  }
  // No rounding in either product: at most 4 significant bits times a count of at most 33.
  into.zero += value == 0 ? times : 0;
  into.normal.sum.add(value * static_cast<double>(times));
  into.normal.squares += value * value * static_cast<double>(times);
}

const ValueTable& table_of(DType dtype) {
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
      return kE8M0FNU;
    case DType::kFloat4E2M1FNX2:
      return kE2M1FN;
    default:
      fail("a byte histogram needs an fp8 or fp4 dtype, got ", dtype_name(dtype));
  }
}

}  // namespace

bool ByteHistogram::covers(DType dtype) noexcept { return is_floating(dtype) && dtype_size(dtype) == 1; }

void ByteHistogram::add(const Span& span) noexcept {
  const std::byte* bytes = span.data;
  std::int64_t left = span.count;
  for (; left >= 8; left -= 8, bytes += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    for (std::size_t byte = 0; byte < 8; ++byte) {
      ++counts_[byte % kWays][(word >> (8 * byte)) & 0xFF];
    }
  }
  for (; left > 0; --left, ++bytes) {
    ++counts_[0][std::to_integer<std::size_t>(*bytes)];
  }
}

void ByteHistogram::finish(DType dtype, Partial& into) const {
  std::array<std::int64_t, 256> totals{};
  for (const auto& way : counts_) {
    for (std::size_t code = 0; code < totals.size(); ++code) {
      totals[code] += way[code];
    }
  }
  std::array<std::int64_t, 256> values = totals;
  if (dtype == DType::kFloat4E2M1FNX2) {
    values.fill(0);
    for (std::size_t code = 0; code < totals.size(); ++code) {
      values[code & 0xF] += totals[code];
      values[code >> 4] += totals[code];
    }
  }
  const ValueTable& table = table_of(dtype);
  for (std::size_t code = 0; code < values.size(); ++code) {
    if (values[code] > 0) {
      add_value(table[code], values[code], into);
      into.count += values[code];
    }
  }
}

}  // namespace msprobe::stats

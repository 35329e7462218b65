// SPDX-License-Identifier: Apache-2.0
// Reads values back out of the columns.
#include "read/dump_model.h"

#include <bit>

namespace msprobe::read {

Number DumpModel::number(const Leaf& leaf, std::size_t statistic) const {
  Number number;
  number.kind = leaf.kinds[statistic];
  const std::uint64_t payload = leaf.payload[statistic];
  switch (number.kind) {
    case NumberKind::kInteger:
      number.integer = static_cast<std::int64_t>(payload);
      break;
    case NumberKind::kUnsigned:
      number.natural = payload;
      break;
    case NumberKind::kReal:
      number.real = std::bit_cast<double>(payload);
      break;
    case NumberKind::kText:
      number.text = texts[static_cast<TextId>(payload)];
      break;
    default:
      break;
  }
  return number;
}

const Counts* DumpModel::counts_of(const Leaf& leaf) const {
  const std::uint32_t place = extras[leaf.extra].counts;
  return place == 0 ? nullptr : &counts[place];
}

std::int64_t DumpModel::moment_of(const Leaf& leaf) const {
  const bool ends = leaf.section == Section::kOutput || leaf.section == Section::kParametersGrad;
  return ends ? ops[leaf.op].order_last : ops[leaf.op].order_first;
}

void DumpModel::append_row_name(std::string& out, const Leaf& leaf) const {
  if (const TextId data_name = extras[leaf.extra].data_name; data_name != 0) {
    const std::string_view name = texts[data_name];
    const std::size_t dot = name.rfind('.');
    out += dot == std::string_view::npos ? name : name.substr(0, dot);
    return;
  }
  out += op_name(leaf);
  out += suffixes[leaf.suffix];
}

}  // namespace msprobe::read

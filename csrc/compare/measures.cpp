// SPDX-License-Identifier: Apache-2.0
// Differences against scales that do not vanish where a single value happens to be near zero; checksums.
#include "compare/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "read/checksum.h"

namespace msprobe::compare {
namespace {

using read::Leaf;
using read::LeafKind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kNotAvailable = "N/A";

double magnitude(const read::Number& number) {
  const Value value = classify(number);
  return value.value_class == ValueClass::kNumber ? std::abs(value.real) : -1;
}

double scaled(const Difference& difference, double scale) {
  switch (difference.kind) {
    case DifferenceKind::kEqual:
      return 0;
    case DifferenceKind::kNumbers:
      if (scale < 0) {
        return -1;
      }
      return scale == 0 ? kInfinity : std::abs(difference.difference) / scale;
    case DifferenceKind::kNotAvailable:
      return -1;
    default:
      return kInfinity;
  }
}

}  // namespace

Measures measure(const read::DumpModel& target, const Leaf& left, const read::DumpModel& golden, const Leaf& right) {
  const double range = std::max(magnitude(golden.number(right, read::kMax)), magnitude(golden.number(right, read::kMin)));
  const double norm = magnitude(golden.number(right, read::kNorm));
  const double count = element_count(golden, right);
  const double rms = count > 0 && norm >= 0 ? norm / std::sqrt(count) : -1;
  const std::array<double, read::kStatistics> scales = {range, range, rms, norm};
  Measures measures;
  for (std::size_t statistic = 0; statistic < read::kStatistics; ++statistic) {
    measures.differences[statistic] = difference(target.number(left, statistic), golden.number(right, statistic));
    measures.scaled[statistic] = scaled(measures.differences[statistic], scales[statistic]);
  }
  const Difference& of_norm = measures.differences[read::kNorm];
  if (of_norm.kind == DifferenceKind::kNumbers && !of_norm.golden_zero) {
    measures.percent_norm = of_norm.percent / 100;
  }
  return measures;
}

double element_count(const read::DumpModel& model, const Leaf& leaf) {
  double count = 1;
  for (const std::int64_t size : model.sizes[leaf.shape]) {
    count *= static_cast<double>(size);
  }
  return count;
}

std::string_view checksum_text(const read::DumpModel& model, const Leaf& leaf, std::string& memory) {
  const read::Extra& extra = model.extra(leaf);
  if (leaf.kind == LeafKind::kNull || leaf.kind == LeafKind::kBroken) {
    return kNotAvailable;
  }
  if (extra.md5 != 0) {
    return model.text(extra.md5);
  }
  if (extra.value == 0) {
    return {};
  }
  // Ranks and groups are told as they are.
  const bool plain = leaf.kind == LeafKind::kProcessGroup ||
                     (leaf.kinds[read::kMax] == read::NumberKind::kText && !model.dtypes[leaf.dtype].starts_with('<'));
  memory = plain ? std::string(model.text(extra.value)) : read::crc32_hex(model.text(extra.value));
  return memory;
}

}  // namespace msprobe::compare

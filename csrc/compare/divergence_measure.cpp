// SPDX-License-Identifier: Apache-2.0
// How far the four numbers of a tensor are apart on the two sides.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "compare/divergence.h"
#include "compare/divergence_rule.h"

namespace msprobe::compare::divergence {
namespace {

constexpr std::array kStatistics{Statistic::kMax, Statistic::kMin, Statistic::kMean, Statistic::kNorm};

double number(const Leaf& leaf, Statistic statistic) { return leaf.numbers[static_cast<std::size_t>(statistic)]; }

bool both_know(const Leaf& target, const Leaf& golden, Statistic statistic) {
  return target.knows(statistic) && golden.knows(statistic);
}

double elements_of(const std::vector<std::int64_t>& sizes) {
  double count = 1;
  for (const std::int64_t size : sizes) {
    count *= static_cast<double>(size);
  }
  return count;
}

// A dimension of size 1 more or less moves no element.
std::vector<std::int64_t> squeezed(std::vector<std::int64_t> sizes) {
  std::erase(sizes, 1);
  return sizes;
}

// -1, 0 and 1 for the infinities and what is finite, 2 for NaN.
int kind_of(double value) {
  if (std::isnan(value)) {
    return 2;
  }
  return std::isinf(value) ? (value > 0 ? 1 : -1) : 0;
}

bool is_float32(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

// Means and norms of integers are float32 on some devices: then their last bits say nothing.
bool same_integer_number(Statistic statistic, double target, double golden) {
  if (target == golden || (std::isnan(target) && std::isnan(golden))) {
    return true;
  }
  if (statistic == Statistic::kMax || statistic == Statistic::kMin || !(is_float32(target) || is_float32(golden))) {
    return false;
  }
  return std::abs(target - golden) <= kFloat32Sums * std::max(std::abs(target), std::abs(golden));
}

void measure_integers(Place& place, const Leaf& target, const Leaf& golden) {
  bool any = false;
  std::size_t identity = std::hash<std::string_view>{}(target.shape);
  for (const Statistic statistic : kStatistics) {
    if (!both_know(target, golden, statistic)) {
      continue;
    }
    const double t = number(target, statistic);
    const double g = number(golden, statistic);
    any = true;
    identity = identity * 0x9E3779B97F4A7C15ULL + std::hash<double>{}(t) * 31 + std::hash<double>{}(g);
    if (place.finding != Finding::kDiffers && !same_integer_number(statistic, t, g)) {
      place.finding = Finding::kDiffers;
      place.statistic = statistic;
    }
  }
  if (any && place.finding != Finding::kDiffers) {
    place.finding = Finding::kSame;
  }
  place.identity = identity;
}

// An additive mask: its lowest values are those of the type, so they differ between types without a fault.
bool is_mask(const Leaf& target, const Leaf& golden) {
  if (!both_know(target, golden, Statistic::kMin)) {
    return false;
  }
  const double t = number(target, Statistic::kMin);
  const double g = number(golden, Statistic::kMin);
  const auto lowest = [](double one, double other) { return one <= kMaskWide && other <= kMaskNarrow; };
  if (!lowest(t, g) && !lowest(g, t)) {
    return false;
  }
  // A mask has no other special values: an overflow at its other end is none.
  return !both_know(target, golden, Statistic::kMax) ||
         kind_of(number(target, Statistic::kMax)) == kind_of(number(golden, Statistic::kMax));
}

// The first number whose kind (finite, NaN, which infinity) is another one; kNone if there is none.
Statistic first_other_kind(const Leaf& target, const Leaf& golden, bool& any_special) {
  Statistic first = Statistic::kNone;
  for (const Statistic statistic : kStatistics) {
    if (!both_know(target, golden, statistic)) {
      continue;
    }
    const int t = kind_of(number(target, statistic));
    const int g = kind_of(number(golden, statistic));
    any_special = any_special || t != 0;
    if (t != g && first == Statistic::kNone) {
      first = statistic;
    }
  }
  return first;
}

// max(|Max|, |Min|), or -1.
double peak_of(const Leaf& leaf) {
  double peak = -1;
  for (const Statistic statistic : {Statistic::kMax, Statistic::kMin}) {
    if (leaf.knows(statistic)) {
      peak = std::max(peak, std::abs(number(leaf, statistic)));
    }
  }
  return peak;
}

double rms_of(const Leaf& leaf, double elements) {
  return leaf.knows(Statistic::kNorm) ? number(leaf, Statistic::kNorm) / std::sqrt(elements) : -1;
}

bool all_zero(const Leaf& leaf) {
  bool any = false;
  for (const Statistic statistic : kStatistics) {
    if (leaf.knows(statistic)) {
      any = true;
      if (number(leaf, statistic) != 0) {
        return false;
      }
    }
  }
  return any;
}

// With healthy noise of relative L2 size r, Norm and Mean move by about r / sqrt(n), Max and Min by r / 4: the factors bring all
// four to about the same size. n counts at most as far as a few large elements let it: norm / peak is the effective sample.
void measure_floats(Place& place, const Leaf& target, const Leaf& golden, double elements) {
  const double peak = peak_of(golden);
  const double rms = rms_of(golden, elements);
  const double norm = rms < 0 ? -1 : number(golden, Statistic::kNorm);
  double sample = std::min(std::sqrt(elements), kLargestSample);
  if (peak > 0 && norm > 0) {
    sample = std::min(sample, kPeakFactor * norm / peak);
  }
  const auto part = [&](Statistic statistic, double scale, double factor, double rounding) {
    if (!both_know(target, golden, statistic) || !(scale > 0)) {
      return;
    }
    double difference = std::abs(number(target, statistic) - number(golden, statistic));
    if (is_float32(number(target, statistic)) || is_float32(number(golden, statistic))) {
      difference -= std::min(difference, rounding * scale);
    }
    const double distance = difference / scale * factor;
    if (place.statistic == Statistic::kNone || distance > static_cast<double>(place.distance)) {
      place.distance = static_cast<float>(std::min(distance, 1e30));
      place.statistic = statistic;
    }
  };
  part(Statistic::kNorm, norm, sample / kNormDivisor, kFloat32Sums);
  part(Statistic::kMean, rms, sample / kMeanDivisor, kFloat32Sums);
  part(Statistic::kMax, peak, 1, 0);
  part(Statistic::kMin, peak, 1, 0);
  if (place.statistic != Statistic::kNone) {
    place.finding = Finding::kDistance;
  }
}

}  // namespace

double unit_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kComplex32:
      return 0x1p-11;
    case DType::kBFloat16:
      return 0x1p-8;
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
      return 0x1p-4;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return 0x1p-3;
    case DType::kFloat4E2M1FNX2:
      return 0x1p-2;
    case DType::kFloat8E8M0FNU:
      return 0x1p-1;
    default:
      return 0x1p-24;
  }
}

std::vector<std::int64_t> sizes_of(std::string_view shape) {
  std::vector<std::int64_t> sizes;
  const char* at = shape.data();
  const char* const end = at + shape.size();
  while (at != end) {
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error == std::errc()) {
      sizes.push_back(size);
      at = next;
    } else {
      ++at;
    }
  }
  return sizes;
}

Place measure_one_sided(Side side, const Leaf& leaf) {
  Place place;
  place.section = leaf.section;
  place.finding = elements_of(sizes_of(leaf.shape)) == 0 ? Finding::kSkipped : Finding::kMissing;
  (side == Side::kTarget ? place.target_dtype : place.golden_dtype) = leaf.dtype;
  return place;
}

Place measure(const Leaf& target, const Leaf& golden) {
  Place place;
  place.section = target.section;
  place.target_dtype = target.dtype;
  place.golden_dtype = golden.dtype;
  const std::vector<std::int64_t> sizes = sizes_of(golden.shape);
  if (target.shape != golden.shape && squeezed(sizes_of(target.shape)) != squeezed(sizes)) {
    place.finding = Finding::kShape;
    return place;
  }
  const double elements = elements_of(sizes);
  if (elements == 0) {
    return place;
  }
  const bool integers = is_integral(target.dtype) && is_integral(golden.dtype);
  if (integers) {
    measure_integers(place, target, golden);
    return place;
  }
  if (is_integral(target.dtype) || is_integral(golden.dtype) || target.dtype == DType::kUnknown ||
      golden.dtype == DType::kUnknown) {
    return place;
  }
  place.golden_rms = static_cast<float>(rms_of(golden, elements));
  place.target_rms = static_cast<float>(rms_of(target, elements));
  if (is_mask(target, golden)) {
    return place;
  }
  bool any_special = false;
  const Statistic other = first_other_kind(target, golden, any_special);
  if (other != Statistic::kNone) {
    place.finding = Finding::kNotFinite;
    place.statistic = other;
    return place;
  }
  if (any_special) {
    return place;
  }
  if (all_zero(golden)) {
    if (!all_zero(target) && (target.known & golden.known) != 0) {
      place.finding = Finding::kGoldenZero;
      place.statistic = target.knows(Statistic::kNorm) ? Statistic::kNorm : Statistic::kMax;
    }
    return place;
  }
  measure_floats(place, target, golden, elements);
  return place;
}

}  // namespace msprobe::compare::divergence

// SPDX-License-Identifier: Apache-2.0
// From sums to columns: which rule applies to a pair, and the last steps of each formula.
#include "compare/tensor_metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/element.h"
#include "compare/pair_blocks.h"
#include "compare/tensor_metrics_with.h"
#include "stats/dispatch.h"

namespace msprobe::compare {
namespace {

constexpr int kDecimals = 12;
constexpr int kFewDecimals = 6;
constexpr double kNearlyOne = 0.9999;  // cosines above are shown with kFewDecimals
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The sizes of the values: packed fp4 has two in each element.
std::vector<std::int64_t> value_sizes(const read::PtTensor& tensor) {
  std::vector<std::int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  if (numbers_in_item(tensor.dtype()) > 1) {
    sizes.push_back(numbers_in_item(tensor.dtype()));
  }
  return sizes;
}

std::vector<std::int64_t> squeezed(std::vector<std::int64_t> sizes) {
  std::erase(sizes, 1);
  return sizes;
}

std::string shape_text(const read::PtTensor& tensor) {
  std::string text(1, '[');
  for (const std::int64_t size : tensor.sizes()) {
    text += text.size() > 1 ? ", " : "";
    text += std::to_string(size);
  }
  text += ']';
  return text;
}

double cosine_of(const PairSums& sums) {
  const double target = std::sqrt(sums.target_squares);
  const double golden = std::sqrt(sums.golden_squares);
  if (target <= kEpsilonDouble && golden <= kEpsilonDouble) {
    return 1;
  }
  if (target <= kEpsilonDouble || golden <= kEpsilonDouble) {
    return kNan;
  }
  const double cosine = round_to_decimals(sums.dot / (target * golden), kDecimals);
  return cosine > kNearlyOne ? round_to_decimals(cosine, kFewDecimals) : cosine;
}

double relative_l2_of(const PairSums& sums) {
  if (sums.difference_squares == 0) {
    return 0;
  }
  const double relative = std::sqrt(sums.difference_squares) / std::sqrt(sums.golden_squares);
  return std::isnan(relative) ? kInfinity : relative;
}

double share(std::int64_t part, std::int64_t of) {
  return round_to_decimals(static_cast<double>(part) / static_cast<double>(of), kDecimals);
}

// One element that is not finite on both sides: its errors follow from IEEE arithmetic.
void fill_special_scalar(const Element& target, const Element& golden, TensorMetrics& metrics) {
  const double difference = std::hypot(target.real - golden.real, target.imaginary - golden.imaginary);
  metrics.max_abs_error =
      std::isnan(target.real - golden.real) || std::isnan(target.imaginary - golden.imaginary) ? kNan : difference;
  const double relative = metrics.max_abs_error / std::hypot(golden.real, golden.imaginary);
  metrics.max_relative_error = relative;
}

void fill_worst(const read::PtTensor& target, const read::PtTensor& golden, std::int64_t number, TensorMetrics& metrics) {
  if (number < 0) {
    return;
  }
  const Element ours = element_at(target, number);
  const Element theirs = element_at(golden, number);
  metrics.worst_index = index_text(value_sizes(target), number);
  metrics.worst_target = element_text(ours);
  metrics.worst_golden = element_text(theirs);
  metrics.worst_ulp = ulp_distance(ours, theirs);
}

bool is_finite(const Element& element) { return std::isfinite(element.real) && std::isfinite(element.imaginary); }

void fill_scalar(const read::PtTensor& target, const read::PtTensor& golden, const PairResult& result, TensorMetrics& metrics) {
  metrics.status = MetricsStatus::kScalar;
  const Element ours = element_at(target, 0);
  const Element theirs = element_at(golden, 0);
  if (is_finite(ours) && is_finite(theirs)) {
    metrics.max_abs_error = round_to_decimals(result.sums.max_abs, kDecimals);
    metrics.max_relative_error = round_to_decimals(result.sums.max_relative, kDecimals);
  } else {
    fill_special_scalar(ours, theirs, metrics);
  }
}

void fill_all(const PairResult& result, TensorMetrics& metrics) {
  metrics.status = MetricsStatus::kComputed;
  metrics.cosine = cosine_of(result.sums);
  metrics.euclidean_distance = std::sqrt(result.sums.difference_squares);
  metrics.max_abs_error = round_to_decimals(result.sums.max_abs, kDecimals);
  metrics.max_relative_error = round_to_decimals(result.sums.max_relative, kDecimals);
  metrics.one_thousandth_ratio = share(result.sums.within_one, result.elements);
  metrics.five_thousandths_ratio = share(result.sums.within_five, result.elements);
}

}  // namespace

double round_to_decimals(double value, int decimals) {
  if (!std::isfinite(value)) {
    return value;
  }
  constexpr std::size_t kLongest = 352;  // 309 digits, sign, point, decimals
  std::array<char, kLongest> text;       // NOLINT(*-member-init): written by to_chars
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, std::min(decimals, kDecimals));
  double rounded = value;
  std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

TensorMetrics unsupported_metrics(std::string reason) {
  TensorMetrics metrics;
  metrics.reason = std::move(reason);
  return metrics;
}

TensorMetrics compare_tensors_with(const PairKernels& kernels, const read::PtTensor& target, const read::PtTensor& golden,
                                   const Tolerance& tolerance, int threads) {
  if (target.elements() == 0) {
    return unsupported_metrics("the target's tensor is empty, shape " + shape_text(target));
  }
  const std::vector<std::int64_t> shape = squeezed(value_sizes(target));
  if (shape != squeezed(value_sizes(golden)) || numbers_in_item(target.dtype()) != numbers_in_item(golden.dtype())) {
    TensorMetrics metrics;
    metrics.status = MetricsStatus::kShapeDiffer;
    metrics.reason = "the saved tensors' shapes differ: " + shape_text(target) + " of " +
                     std::string(dtype_name(target.dtype())) + " in the target, " + shape_text(golden) + " of " +
                     std::string(dtype_name(golden.dtype())) + " in the golden";
    return metrics;
  }
  TensorMetrics metrics;
  const Limits limits = limits_for(tolerance, target.dtype(), golden.dtype());
  metrics.rtol = limits.rtol;
  metrics.atol = limits.atol;
  const PairResult result = compare_blocks(target, golden, limits, threads, kernels);
  metrics.elements = result.elements;
  metrics.over_tolerance = result.sums.over_tolerance;
  metrics.reason = special_text(result.special);
  fill_worst(target, golden, result.worst, metrics);
  if (result.special.elements == 0) {
    metrics.relative_l2 = relative_l2_of(result.sums);
  }
  if (shape.empty()) {
    fill_scalar(target, golden, result, metrics);
  } else if (result.special.elements > 0) {
    metrics.status = MetricsStatus::kSpecialDiffer;
  } else {
    fill_all(result, metrics);
  }
  return metrics;
}

TensorMetrics compare_tensors(const read::PtTensor& target, const read::PtTensor& golden, const Tolerance& tolerance,
                              int threads) {
  return compare_tensors_with(pair_kernels_of(stats::active_kernels().target), target, golden, tolerance, threads);
}

TensorMetrics compare_tensor_files(const std::string& target_folder, std::string_view target_name,
                                   const std::string& golden_folder, std::string_view golden_name, const Tolerance& tolerance,
                                   int threads) {
  try {
    const auto read = [](const std::string& folder, std::string_view name) {
      return read::read_pt(read::open_inside(folder, name), folder + "/" + std::string(name));
    };
    return compare_tensors(read(target_folder, target_name), read(golden_folder, golden_name), tolerance, threads);
  } catch (const Error& error) {
    return unsupported_metrics(error.what());
  }
}

MetricCell metric_cell(const TensorMetrics& metrics, Metric metric) noexcept {
  constexpr std::string_view kUnsupportedText = "unsupported";
  const bool maximum = metric == Metric::kMaxAbsError || metric == Metric::kMaxRelativeError;
  switch (metrics.status) {
    case MetricsStatus::kUnsupported:
      return {.number = {}, .text = kUnsupportedText};
    case MetricsStatus::kShapeDiffer:
      return {.number = {}, .text = "shape unmatched"};
    case MetricsStatus::kSpecialDiffer:
      return {.number = {}, .text = "N/A"};
    case MetricsStatus::kScalar:
      if (!maximum) {
        return {.number = {}, .text = kUnsupportedText};
      }
      break;
    case MetricsStatus::kComputed:
      break;
  }
  double number = metrics.cosine;
  switch (metric) {
    case Metric::kCosine:
      break;
    case Metric::kEuclideanDistance:
      number = metrics.euclidean_distance;
      break;
    case Metric::kMaxAbsError:
      number = metrics.max_abs_error;
      break;
    case Metric::kMaxRelativeError:
      number = metrics.max_relative_error;
      break;
    case Metric::kOneThousandth:
      number = metrics.one_thousandth_ratio;
      break;
    case Metric::kFiveThousandths:
      number = metrics.five_thousandths_ratio;
      break;
  }
  return std::isnan(number) ? MetricCell{.number = {}, .text = "Nan"} : MetricCell{.number = number, .text = {}};
}

}  // namespace msprobe::compare

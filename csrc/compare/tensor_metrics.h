// SPDX-License-Identifier: Apache-2.0
// How far two tensors are apart, element by element: the columns of tensor mode.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/tolerance.h"
#include "read/pt_file.h"

namespace msprobe::compare {

enum class MetricsStatus : std::uint8_t {
  kComputed,       // all six
  kScalar,         // one element: only the two maxima; the others are "unsupported"
  kSpecialDiffer,  // NaN or Inf stand at different places, or infinities have different signs: "N/A"
  kShapeDiffer,    // "shape unmatched"
  kUnsupported,    // no tensor on a side, an empty one: "unsupported"
};

// One field a column. docs/compare.md has the formulas.
struct TensorMetrics {
  MetricsStatus status = MetricsStatus::kUnsupported;
  std::string reason;  // why not all six are there, or why they are NaN or infinite; empty for kComputed

  // The original six; see metric_text() for what is printed. Rounded as the columns are. NaN prints as "Nan".
  double cosine = 0;
  double euclidean_distance = 0;
  double max_abs_error = 0;
  double max_relative_error = 0;
  double one_thousandth_ratio = 0;
  double five_thousandths_ratio = 0;

  // Ours. The worst element is the first with the largest absolute error; if NaN or Inf differ, the first where they do. The texts are
  // empty if no two elements differ.
  std::string worst_index;   // in the target's shape, "[0, 17]"; "[]" of a 0-dim tensor
  std::string worst_target;  // its values, exact enough to read back
  std::string worst_golden;
  std::optional<std::uint64_t> worst_ulp;  // steps between the two in the coarser dtype; none for NaN and Inf
  std::int64_t elements = 0;               // compared (twice torch's count for packed fp4); 0 unless shapes are equal
  std::int64_t over_tolerance = 0;         // elements that are not close
  double rtol = 0;                         // that were used
  double atol = 0;
  // ||target - golden|| / ||golden|| of what is finite; infinite if only the golden tensor is all zero. None where elements were not
  // compared, or NaN and Inf differ.
  std::optional<double> relative_l2;
};

enum class Metric : std::uint8_t {
  kCosine,
  kEuclideanDistance,
  kMaxAbsError,
  kMaxRelativeError,
  kOneThousandth,
  kFiveThousandths
};

// What a cell of one of the six columns holds: a number, or a text ("unsupported", "shape unmatched", "N/A", "Nan").
struct MetricCell {
  std::optional<double> number;
  std::string_view text;  // static; empty if there is a number
};
MetricCell metric_cell(const TensorMetrics& metrics, Metric metric) noexcept;

// Any number of threads (at least one) gives the same bits. Takes some 100 KB a thread, whatever the tensors' size. Throws nothing but
// std::bad_alloc: what cannot be compared has a status and a reason.
TensorMetrics compare_tensors(const read::PtTensor& target, const read::PtTensor& golden, const Tolerance& tolerance,
                              int threads);

// For a pair of which there is only a reason why it cannot be compared (a file that is missing or broken).
TensorMetrics unsupported_metrics(std::string reason);

// Reads two files, each by its name inside its folder, and compares them; a file that cannot be read is kUnsupported with the error's text.
TensorMetrics compare_tensor_files(const std::string& target_folder, std::string_view target_name,
                                   const std::string& golden_folder, std::string_view golden_name, const Tolerance& tolerance,
                                   int threads);

// `format("%.12f")` read back: what the original tool calls rounding to `decimals` decimals (at most 12).
double round_to_decimals(double value, int decimals);

}  // namespace msprobe::compare

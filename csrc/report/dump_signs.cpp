// SPDX-License-Identifier: Apache-2.0
// Signs by the four numbers of a tensor and its counts.
#include "report/dump_signs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "compare/divergence_calls.h"
#include "compare/divergence_input.h"
#include "compare/measures.h"
#include "format/dtype.h"

namespace msprobe::report {
namespace {

using compare::divergence::Statistic;
using read::Leaf;
using read::Section;

constexpr double kNearly = 0.99;          // of a magnitude, of a limit, of the elements
constexpr double kFewestElements = 16;    // below, one magnitude everywhere is no wonder
constexpr std::size_t kToldOfAKind = 20;  // the page lists the first few
// They write -Inf where a mask says so: into scores that a softmax comes after.
constexpr std::array<std::string_view, 6> kMaskMakers = {"masked_fill", "where", "full", "fill_", "triu", "tril"};
constexpr std::array<std::string_view, 8> kConstantMakers = {"zeros", "ones", "full",   "empty",
                                                             "fill",  "eye",  "arange", "zero_"};

// Largest finite numbers.
double largest_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.FEp127;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    case DType::kFloat64:
      return std::numeric_limits<double>::max();
    case DType::kFloat8E4M3FN:
      return 448;
    case DType::kFloat8E4M3FNUZ:
      return 240;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return 57344;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

struct Numbers {
  double max = 0;
  double min = 0;
  double norm = 0;
  bool known = false;
  [[nodiscard]] double magnitude() const { return std::max(std::abs(max), std::abs(min)); }
  // 0 where it lets through, the lowest number or -inf where it does not.
  [[nodiscard]] bool is_mask(double largest) const { return max == 0 && (std::isinf(min) || min <= -kNearly * largest); }
};

// -Inf and nothing else that is not finite: what a mask leaves.
bool is_masked(const compare::divergence::Leaf& leaf, const Numbers& numbers, const read::Counts* counts) {
  if (counts != nullptr) {
    return counts->nan + counts->pos_inf == 0 && counts->neg_inf > 0;
  }
  const bool finite_max = leaf.knows(Statistic::kMax) && std::isfinite(numbers.max);
  const bool infinite_min = leaf.knows(Statistic::kMin) && std::isinf(numbers.min);
  const double mean = leaf.numbers.at(static_cast<std::size_t>(Statistic::kMean));
  return finite_max && infinite_min && !(leaf.knows(Statistic::kMean) && std::isnan(mean));
}

bool is_not_finite(const compare::divergence::Leaf& leaf, const Numbers& numbers, const read::Counts* counts) {
  if (counts != nullptr) {
    return counts->nan + counts->pos_inf > 0 || (counts->neg_inf > 0 && numbers.max != 0);
  }
  for (std::size_t i = 0; i < leaf.numbers.size(); ++i) {
    if (leaf.knows(static_cast<Statistic>(i)) && std::isnan(leaf.numbers.at(i))) {
      return true;
    }
  }
  const bool infinite =
      leaf.knows(Statistic::kMax) && leaf.knows(Statistic::kMin) && (std::isinf(numbers.max) || std::isinf(numbers.min));
  return infinite && numbers.max != 0;
}

Numbers numbers_of(const compare::divergence::Leaf& leaf) {
  const auto at = [&](Statistic statistic) { return leaf.numbers.at(static_cast<std::size_t>(statistic)); };
  return {at(Statistic::kMax), at(Statistic::kMin), at(Statistic::kNorm),
          leaf.knows(Statistic::kMax) && leaf.knows(Statistic::kMin) && leaf.knows(Statistic::kNorm)};
}

bool is_masked_input(const read::DumpModel& model, const Leaf& leaf) {
  if (leaf.kind != read::LeafKind::kTensor || leaf.section != Section::kInput) {
    return false;
  }
  const compare::divergence::Leaf seen = compare::divergence::view_leaf(model, leaf);
  return is_floating(seen.dtype) && is_masked(seen, numbers_of(seen), model.counts_of(leaf));
}

// How the tensors of one call are judged.
struct Judging {
  bool outputs = false;    // for more than NaN and Inf
  bool lets_mask = false;  // -Inf is of a mask: written by this operator, or there in an input
};

std::optional<SignKind> sign_of(const read::DumpModel& model, const Leaf& leaf, const Judging& judging) {
  if (leaf.kind != read::LeafKind::kTensor) {
    return std::nullopt;
  }
  const compare::divergence::Leaf seen = compare::divergence::view_leaf(model, leaf);
  if (!is_floating(seen.dtype) && !is_complex(seen.dtype)) {
    return std::nullopt;
  }
  const Numbers numbers = numbers_of(seen);
  const read::Counts* counts = model.counts_of(leaf);
  if (judging.lets_mask && is_masked(seen, numbers, counts)) {
    return std::nullopt;
  }
  if (is_not_finite(seen, numbers, counts)) {
    return SignKind::kNotFinite;
  }
  const double elements = compare::element_count(model, leaf);
  if (!judging.outputs || leaf.section != Section::kOutput || !numbers.known || elements < 2) {
    return std::nullopt;
  }
  const double largest = largest_of(seen.dtype);
  if (numbers.is_mask(largest)) {
    return std::nullopt;
  }
  if (numbers.max == 0 && numbers.min == 0) {
    return SignKind::kDead;
  }
  if (numbers.max == numbers.min) {
    return SignKind::kConstant;
  }
  if (numbers.magnitude() >= kNearly * largest) {
    return SignKind::kLimit;
  }
  if (elements < kFewestElements) {
    return std::nullopt;
  }
  if (counts != nullptr && static_cast<double>(counts->zero) >= kNearly * elements) {
    return SignKind::kMostlyZero;
  }
  if (numbers.norm / std::sqrt(elements) >= kNearly * numbers.magnitude()) {
    return SignKind::kSaturated;
  }
  return std::nullopt;
}

bool is_module(std::string_view name) { return compare::divergence::parse_call_name(name).module; }

// Without `Order` the order of the file has to do.
std::tuple<std::int64_t, std::size_t> moment(const read::DumpModel& model, std::size_t leaf) {
  return {model.moment_of(model.leaves[leaf]), leaf};
}

}  // namespace

std::string_view sign_name(SignKind kind) noexcept {
  constexpr std::array<std::string_view, kSignKinds> kNames = {"not_finite", "dead",      "mostly_zero",
                                                               "constant",   "saturated", "limit"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view sign_sentence(SignKind kind) noexcept {
  constexpr std::array<std::string_view, kSignKinds> kSentences = {"error: It has NaN or Inf.",
                                                                   "warning: It is all zero.",
                                                                   "warning: 99 % of it or more are zero.",
                                                                   "warning: It has the same value everywhere.",
                                                                   "warning: Nearly every element has the largest magnitude.",
                                                                   "warning: It reaches the largest number of its type."};
  return kSentences[static_cast<std::size_t>(kind)];
}

std::vector<std::optional<SignKind>> find_signs(const read::DumpModel& model) {
  const bool has_modules =
      std::any_of(model.ops.begin(), model.ops.end(), [&](const read::Op& op) { return is_module(model.text(op.name)); });
  std::vector<std::optional<SignKind>> signs;
  signs.reserve(model.leaves.size());
  for (const read::Op& op : model.ops) {
    const std::string_view name = model.text(op.name);
    const auto is_one_of = [&](const auto& makers) {
      return std::any_of(makers.begin(), makers.end(),
                         [&](std::string_view maker) { return name.find(maker) != std::string_view::npos; });
    };
    const auto& leaves = model.leaves_of(op);
    const bool masked =
        std::any_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) { return is_masked_input(model, leaf); });
    const Judging judging{has_modules ? is_module(name) : !is_one_of(kConstantMakers),
                          masked || (!is_module(name) && is_one_of(kMaskMakers))};
    for (const Leaf& leaf : leaves) {
      signs.push_back(sign_of(model, leaf, judging));
    }
  }
  return signs;
}

FirstSigns first_signs(const read::DumpModel& model, const std::vector<std::optional<SignKind>>& signs) {
  FirstSigns first;
  for (std::size_t leaf = 0; leaf < signs.size(); ++leaf) {
    if (const std::optional<SignKind>& sign = signs[leaf]) {
      const auto kind = static_cast<std::size_t>(*sign);
      first.leaves.at(kind).push_back(leaf);
      ++first.counts.at(kind);
    }
  }
  for (std::vector<std::size_t>& leaves : first.leaves) {
    const std::size_t told = std::min(kToldOfAKind, leaves.size());
    std::partial_sort(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(told), leaves.end(),
                      [&](std::size_t a, std::size_t b) { return moment(model, a) < moment(model, b); });
    leaves.resize(told);
  }
  const std::vector<std::size_t>& not_finite = first.leaves.at(static_cast<std::size_t>(SignKind::kNotFinite));
  if (!not_finite.empty()) {
    const std::uint32_t op = model.leaves[not_finite.front()].op;
    const read::Op& call = model.ops[op];
    for (std::size_t leaf = call.first_leaf; leaf < call.first_leaf + call.leaf_count; ++leaf) {
      const Section section = model.leaves[leaf].section;
      first.inputs_had_it = first.inputs_had_it || ((section == Section::kInput || section == Section::kParameters) &&
                                                    signs[leaf] == SignKind::kNotFinite);
    }
  }
  return first;
}

}  // namespace msprobe::report

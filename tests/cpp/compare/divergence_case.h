// SPDX-License-Identifier: Apache-2.0
// Two runs made call by call for the tests of divergence: golden's numbers, and how far the target is from them.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare/divergence.h"
#include "compare/divergence_align.h"

namespace msprobe::compare::divergence {

// A tensor with texts of its own.
struct Tensor {
  DType dtype = DType::kFloat32;
  std::string shape = "[64, 64]";
  std::array<double, 4> numbers{1, -1, 0, 32};  // Max, Min, Mean, Norm
  std::uint8_t known = kAllKnown;
};

// A tensor whose E against Tensor{} is `distance`: the peak is 1, so Max moves by it.
inline Tensor off_by(double distance) { return {.numbers = {1 + distance, -1, 0, 32}}; }
inline Tensor integers(double max, double mean, DType dtype = DType::kInt64) {
  return {.dtype = dtype, .shape = "[8]", .numbers = {max, 0, mean, max}};
}

inline Leaf leaf_of(const Tensor& tensor, Section section = Section::kOutput, std::string_view path = "0") {
  return {section, path, tensor.dtype, tensor.shape, tensor.numbers, tensor.known};
}

class Case {
 public:
  // A call begins on both sides; its tensors and calls inside follow until end().
  Case& begin(const std::string& name) { return begin(name, name); }
  Case& begin(const std::string& target, const std::string& golden) {  // "" leaves a side out
    open_.emplace_back(start(target_, target), start(golden_, golden));
    return *this;
  }
  Case& end() {
    open_.pop_back();
    return *this;
  }

  Case& tensor(Section section, const Tensor& target, const Tensor& golden, const std::string& path = "") {
    add(target_, open_.back().first, section, target, path);
    add(golden_, open_.back().second, section, golden, path);
    return *this;
  }
  Case& in(double distance) { return tensor(Section::kInput, off_by(distance), {}); }
  Case& out(double distance) { return tensor(Section::kOutput, off_by(distance), {}); }
  Case& parameter(const Tensor& target, const Tensor& golden, const std::string& path) {
    return tensor(Section::kParameter, target, golden, path);
  }
  Case& only_target(Section section, const Tensor& target, const std::string& path) {
    add(target_, open_.back().first, section, target, path);
    return *this;
  }
  Case& only_golden(Section section, const Tensor& golden, const std::string& path) {
    add(golden_, open_.back().second, section, golden, path);
    return *this;
  }
  // A leaf module that takes one tensor and gives one.
  Case& leaf(const std::string& name, double in_distance, double out_distance) {
    return begin(name).in(in_distance).out(out_distance).end();
  }
  Case& op(const std::string& target, const std::string& golden, double in_distance, double out_distance) {
    return begin(target, golden).in(in_distance).out(out_distance).end();
  }
  // The relative L2 errors of the outputs of a call, for tensor mode.
  Case& elements(const std::string& name, double relative_l2) {
    elements_[name] = relative_l2;
    return *this;
  }

  // Calls are partners by name. `stamps`: with Order, else in the order in which the calls began (or ended).
  enum class Order { kStamps, kStarts, kEnds };
  [[nodiscard]] Input input(Order order = Order::kStamps) {
    Input input;
    sort(target_, order);
    sort(golden_, order);
    input.target = calls(target_, order);
    input.golden = calls(golden_, order);
    input.leaves = [this](Side side, std::uint32_t call) {
      std::vector<Leaf> leaves;
      for (const Owned& owned : (side == Side::kTarget ? target_ : golden_)[call].tensors) {
        leaves.push_back(leaf_of(owned.tensor, owned.section, owned.path));
      }
      return leaves;
    };
    for (std::uint32_t t = 0; t < target_.size(); ++t) {
      const auto partner = std::ranges::find(golden_, target_[t].name, &Made::name);
      input.golden_of.push_back(partner == golden_.end() ? kUnmatched : static_cast<std::uint32_t>(partner - golden_.begin()));
      if (partner != golden_.end()) {
        for (Place place : measure_calls(input, t, input.golden_of.back())) {
          const auto found = elements_.find(target_[t].name);
          if (found != elements_.end() && place.section == Section::kOutput) {
            place.relative_l2 = static_cast<float>(found->second);
          }
          input.places.push_back(place);
        }
      }
    }
    return input;
  }
  Verdict verdict(Order order = Order::kStamps, const Options& options = {}) { return find(input(order), options); }

 private:
  struct Owned {
    Section section;
    std::string path;
    Tensor tensor;
  };
  struct Made {
    std::string name;
    std::int64_t began = 0;
    std::int64_t first = -1;
    std::int64_t last = -1;
    std::deque<Owned> tensors;
  };

  std::size_t start(std::vector<Made>& side, const std::string& name) {
    if (name.empty()) {
      return side.size();
    }
    side.push_back({name, clock_++, -1, -1, {}});
    return side.size() - 1;
  }
  void add(std::vector<Made>& side, std::size_t call, Section section, const Tensor& tensor, std::string path) {
    if (call >= side.size()) {
      return;  // this side has no such call
    }
    Made& made = side[call];
    if (path.empty()) {
      path = std::to_string(std::ranges::count(made.tensors, section, &Owned::section));
    }
    if (section != Section::kParameter) {
      made.last = clock_++;
      made.first = made.first < 0 ? made.last : made.first;
    }
    made.tensors.push_back({section, path, tensor});
  }
  static void sort(std::vector<Made>& side, Order order) {
    std::ranges::stable_sort(side, {}, [&](const Made& made) { return order == Order::kEnds ? made.last : made.began; });
  }
  static std::vector<Call> calls(const std::vector<Made>& side, Order order) {
    std::vector<Call> calls;
    for (const Made& made : side) {
      calls.push_back({made.name, order == Order::kStamps ? made.first : -1, order == Order::kStamps ? made.last : -1});
    }
    return calls;
  }

  std::vector<Made> target_;
  std::vector<Made> golden_;
  std::vector<std::pair<std::size_t, std::size_t>> open_;
  std::map<std::string, double> elements_;
  std::int64_t clock_ = 0;
};

}  // namespace msprobe::compare::divergence

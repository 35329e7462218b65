// SPDX-License-Identifier: Apache-2.0
// Reads and compares .pt files for the Python tests, which write them with torch.save: a command a line on stdin, JSON a line on stdout.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/element.h"
#include "compare/number_reader.h"
#include "compare/tensor_metrics_with.h"
#include "read/open_inside.h"
#include "read/pt_file.h"
#include "read/python_text.h"
#include "stats/dispatch.h"

namespace {

using nlohmann::json;
namespace compare = msprobe::compare;
namespace read = msprobe::read;

std::string text_of(double value) {
  std::string text;
  read::append_python_float(text, value);
  return text;
}

json describe(const read::PtTensor& tensor) {
  json described;
  described["dtype"] = msprobe::dtype_name(tensor.dtype());
  described["sizes"] = std::vector<std::int64_t>(tensor.sizes().begin(), tensor.sizes().end());
  described["strides"] = std::vector<std::int64_t>(tensor.strides().begin(), tensor.strides().end());
  described["requires_grad"] = tensor.description().requires_grad;
  described["location"] = tensor.description().location;
  described["values"] = json::array();
  for (std::int64_t number = 0; number < tensor.elements() * compare::numbers_in_item(tensor.dtype()); ++number) {
    described["values"].push_back(compare::element_text(compare::element_at(tensor, number)));
  }
  return described;
}

json describe(const compare::TensorMetrics& metrics) {
  constexpr const char* kStatus[] = {"computed", "scalar", "special", "shape", "unsupported"};
  json described;
  described["status"] = kStatus[static_cast<int>(metrics.status)];
  described["reason"] = metrics.reason;
  described["cells"] = json::array();
  for (int metric = 0; metric <= static_cast<int>(compare::Metric::kFiveThousandths); ++metric) {
    const compare::MetricCell cell = compare::metric_cell(metrics, static_cast<compare::Metric>(metric));
    described["cells"].push_back(cell.number ? text_of(*cell.number) : std::string(cell.text));
  }
  described["worst_index"] = metrics.worst_index;
  described["worst_target"] = metrics.worst_target;
  described["worst_golden"] = metrics.worst_golden;
  described["worst_ulp"] = metrics.worst_ulp ? json(*metrics.worst_ulp) : json();
  described["elements"] = metrics.elements;
  described["over_tolerance"] = metrics.over_tolerance;
  described["rtol"] = metrics.rtol;
  described["atol"] = metrics.atol;
  described["relative_l2"] = metrics.relative_l2 ? json(text_of(*metrics.relative_l2)) : json();
  return described;
}

const compare::PairKernels& kernels_of(const std::string& name) {
  if (name == "reference") {
    return compare::kReferencePairKernels;
  }
  return compare::pair_kernels_of(msprobe::stats::choose_kernels(name.c_str()).target);
}

json answer(const json& command) {
  if (command.contains("read")) {
    return describe(read::read_pt(command["read"].get<std::string>()));
  }
  if (command.contains("inside")) {
    const auto name = command["name"].get<std::string>();
    return describe(read::read_pt(read::open_inside(command["inside"].get<std::string>(), name), name));
  }
  if (command.contains("folders")) {
    const auto folders = command["folders"].get<std::vector<std::string>>();
    const auto names = command["names"].get<std::vector<std::string>>();
    return describe(compare::compare_tensor_files(folders.at(0), names.at(0), folders.at(1), names.at(1), {}, 1));
  }
  if (command.contains("targets")) {
    json names = json::array();
    for (const msprobe::stats::KernelTable* table : msprobe::stats::available_kernels()) {
      names.push_back(table->name);
    }
    return names;
  }
  compare::Tolerance tolerance;
  if (command.contains("rtol")) {
    tolerance.rtol = command["rtol"].get<double>();
  }
  if (command.contains("atol")) {
    tolerance.atol = command["atol"].get<double>();
  }
  return describe(compare::compare_tensors_with(
      kernels_of(command.value("kernels", "")), read::read_pt(command["target"].get<std::string>()),
      read::read_pt(command["golden"].get<std::string>()), tolerance, command.value("threads", 1)));
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    json answered;
    try {
      answered = answer(json::parse(line));
    } catch (const msprobe::Error& error) {
      answered["error"] = error.what();
    }
    std::cout << answered.dump(-1, ' ', true, json::error_handler_t::replace) << '\n' << std::flush;
  }
}

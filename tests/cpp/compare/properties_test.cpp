// SPDX-License-Identifier: Apache-2.0
// What must hold for any two dumps: self-comparison passes, sides mirror, golden's order and the number of threads change nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "compare/dumps_of_text.h"
#include "compare/files_of_text.h"
#include "read/python_text.h"

namespace msprobe::compare {
namespace {

// Random entries with all kinds of leaves. Equal seeds name equal entries; `noise` changes their numbers.
class RandomDump {
 public:
  RandomDump(unsigned seed, double noise) : structure_(seed), noise_(seed + 1000), size_(noise) {}

  std::vector<std::string> entries(int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) {
      const int kind = pick(3);
      const std::string number = std::to_string(i);
      const std::string name = kind == 0   ? "Functional.linear." + number + ".forward"
                               : kind == 1 ? "Module.layers." + number + ".Linear.forward.0"
                                           : "Torch.mul." + number + ".backward";
      std::vector<std::string> inputs(static_cast<std::size_t>(pick(4)));
      std::vector<std::string> outputs(static_cast<std::size_t>(pick(3)));
      for (std::string& input : inputs) {
        input = leaf();
      }
      for (std::string& output : outputs) {
        output = leaf();
      }
      all.push_back(entry(name, inputs, outputs));
    }
    return all;
  }

 private:
  int pick(int count) { return static_cast<int>(structure_() % static_cast<unsigned>(count)); }

  std::string number() {
    constexpr std::array<const char*, 7> kOdd = {"NaN", "Infinity", "-Infinity", "null", "0.0", "\"-inf\"", "true"};
    const int odd = pick(40);
    const double value = std::ldexp(static_cast<double>(structure_() % 1000000) - 500000, pick(40) - 30);
    const double factor = 1 + size_ * std::normal_distribution<double>()(noise_);
    if (odd < static_cast<int>(kOdd.size())) {
      return kOdd[static_cast<std::size_t>(odd)];
    }
    std::string text;
    read::append_python_float(text, value * factor);
    return text;
  }

  std::string leaf() {
    constexpr std::array<const char*, 5> kOthers = {
        "null", R"({"type": "int", "value": 3})", R"({"type": "torch.Size", "value": [2, 8]})",
        R"({"type": "str", "value": "=x;+y"})", R"([{"type": "float", "value": 1e-7}, null])"};
    const int other = pick(20);
    if (other < static_cast<int>(kOthers.size())) {
      return kOthers[static_cast<std::size_t>(other)];
    }
    TensorText tensor;
    tensor.max = number();
    tensor.min = number();
    tensor.mean = number();
    tensor.norm = number();
    return tensor.json();
  }

  std::mt19937 structure_;
  std::mt19937 noise_;
  double size_;
};

std::string joined(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& one : entries) {
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

class Seeds : public ::testing::TestWithParam<unsigned> {};

TEST_P(Seeds, ADumpAgainstItselfPasses) {
  const std::string dump = joined(RandomDump(GetParam(), 0).entries(60));
  for (const TextRow& row : compare_entries(dump, dump)) {
    EXPECT_EQ(row.find("Result")->second, "pass") << row.find("NPU Name")->second << row.find("Err_message")->second;
    EXPECT_EQ(row.find("Err_message")->second, "[]");
    EXPECT_EQ(row.find("Max diff")->second, "0");
    EXPECT_EQ(row.find("NormRelativeErr")->second, "0");
  }
}

// -x for x, inf for -inf; words stay.
std::string mirrored(const std::string& text) {
  if (text == "0" || text == "Nan" || text == "Diff" || text == "N/A") {
    return text;
  }
  return text.starts_with('-') ? text.substr(1) : "-" + text;
}

TEST_P(Seeds, SwappingTheSidesMirrorsTheDifferences) {
  const std::string left = joined(RandomDump(GetParam(), 0).entries(60));
  const std::string right = joined(RandomDump(GetParam(), 0.01).entries(60));
  const TextTable table = compare_entries(left, right);
  const TextTable swapped = compare_entries(right, left);
  ASSERT_EQ(table.size(), swapped.size());
  for (std::size_t row = 0; row < table.size(); ++row) {
    EXPECT_EQ(at(table, row, "NPU max"), at(swapped, row, "Bench max"));
    for (const char* column : {"Max diff", "Min diff", "Mean diff", "L2norm diff"}) {
      EXPECT_EQ(at(table, row, column), mirrored(at(swapped, row, column)));
    }
  }
}

TEST_P(Seeds, GoldensOrderChangesNothing) {
  RandomDump target(GetParam(), 0);
  std::vector<std::string> left = target.entries(60);
  std::vector<std::string> right = RandomDump(GetParam(), 0.01).entries(60);
  left.erase(left.begin() + 5);
  right.erase(right.begin() + 20);
  const TextTable table = compare_entries(joined(left), joined(right));
  // Calls of the backward pass are counted by their order, so those of one operator stay in it.
  const auto is_backward = [](const std::string& one) { return one.find(".backward\"") != std::string::npos; };
  std::vector<std::string> shuffled;
  std::copy_if(right.begin(), right.end(), std::back_inserter(shuffled),
               [&](const std::string& one) { return !is_backward(one); });
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(GetParam()));
  std::copy_if(right.begin(), right.end(), std::back_inserter(shuffled), is_backward);
  EXPECT_EQ(compare_entries(joined(left), joined(shuffled)), table);
}

INSTANTIATE_TEST_SUITE_P(Properties, Seeds, ::testing::Range(1U, 21U));

TEST_F(RunFixture, AnyNumberOfThreadsWritesTheSameBytes) {
  std::vector<std::string> left = RandomDump(7, 0).entries(9000);
  std::vector<std::string> right = RandomDump(7, 0.1).entries(9000);
  right.erase(right.begin() + 77);
  write("t.json", dump_text(joined(left)));
  write("g.json", dump_text(joined(right)));
  std::string csv;
  std::string json;
  std::vector<std::string> worst;
  for (const int threads : {1, 2, 3, 7}) {
    Options some = options("t.json", "g.json");
    some.threads = threads;
    some.diff_analyze = true;
    const Summary summary = run(some);
    ASSERT_EQ(summary.files.size(), 3U);
    std::vector<std::string> names;
    for (const WorstRow& row : summary.worst) {
      names.push_back(row.target_name);
    }
    if (threads == 1) {
      csv = content(summary.files[0]);
      json = content(summary.files[1]);
      worst = names;
      EXPECT_EQ(worst.size(), 10U);
    }
    EXPECT_TRUE(content(summary.files[0]) == csv) << threads;
    EXPECT_TRUE(content(summary.files[1]) == json) << threads;
    EXPECT_EQ(names, worst);
  }
}

}  // namespace
}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// Makes an ordinary program of a fuzzer where libFuzzer is not at hand: runs it on the files named on the command line, or,
// with none, on a fixed corpus of random inputs.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kInputs = 3000;
constexpr std::size_t kLongest = 4096;

void run_builtin_corpus() {
  std::mt19937_64 random(1);
  std::vector<std::uint8_t> input;
  for (int round = 0; round < kInputs; ++round) {
    // Short inputs more often than long ones: they reach the same branches sooner.
    input.resize(random() % (1 + kLongest * static_cast<std::size_t>(round) / kInputs));
    for (std::uint8_t& byte : input) {
      byte = static_cast<std::uint8_t>(random());
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::cout << "ran " << kInputs << " built-in inputs\n";
}

bool run_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "cannot read the fuzzer input '" << path << "'\n";
    return false;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    run_builtin_corpus();
    return 0;
  }
  bool all_read = true;
  for (int index = 1; index < argc; ++index) {
    all_read = run_file(argv[index]) && all_read;
  }
  return all_read ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Compares one pair of dumps from its files to its tables.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "compare/run.h"
#include "read/layout.h"
#include "read/yaml_map.h"

namespace msprobe::compare {

// How far all pairs are, told to the caller's Progress.
class Tracker {
 public:
  Tracker(Progress* progress, std::size_t pairs) : progress_(progress), pairs_(pairs) {}
  void add(double share_of_pair, const std::string& what);  // any thread

 private:
  Progress* progress_;
  std::size_t pairs_;
  std::mutex mutex_;
  double done_ = 0;
};

struct PairRequest {
  const Options* options = nullptr;
  const read::DumpPair* pair = nullptr;
  const read::YamlMap* data_map = nullptr;
  const read::YamlMap* cell_map = nullptr;
  std::vector<WholeWriter*> whole;  // files over all pairs
  std::string stem;                 // of file names, folder included, without extension
  std::string timestamp;            // for -da
  int threads = 1;
  Tracker* tracker = nullptr;
};

struct PairOutcome {
  PairSummary summary;
  std::vector<WorstRow> worst;
  std::string analysis;  // JSON of the place where it starts, for diff_analyze; empty if the dumps were not compared
};

// Throws Error for input that cannot be compared, FileError for what cannot be written.
PairOutcome compare_pair(const PairRequest& request);

}  // namespace msprobe::compare

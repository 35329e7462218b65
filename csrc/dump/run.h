// SPDX-License-Identifier: Apache-2.0
// dump.json's account of the run: with what it was made, which graphs were replayed, which sites recorded and which did not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log/account.h"
#include "log/graphs.h"

namespace msprobe::dump {

struct Run {
  std::string fixed;  // members of a JSON object that are the same in every step, without braces; may be empty
  std::vector<log::Graphs::Entry> graphs;
  log::Account::Summary account;
  std::uint64_t dropped = 0;  // records lost since start()
};

// The value of field::kRun.
std::string run_text(const Run& run);

}  // namespace msprobe::dump

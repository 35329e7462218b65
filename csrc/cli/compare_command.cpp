// SPDX-License-Identifier: Apache-2.0
// Runs a comparison, prints its summary, chooses the exit code.
#include "cli/compare_command.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "cli/compare_options.h"
#include "cli/terminal.h"
#include "compare/run.h"
#include "report/summary.h"

namespace msprobe::cli {
namespace {

constexpr int kFailOnMet = 1;
constexpr int kNotCompared = 2;

compare::Summary run_with_progress(const CompareCommand& command) {
  if (command.quiet) {
    return compare::run(command.options, nullptr);
  }
  ProgressBar bar;
  return compare::run(command.options, &bar);
}

bool is_met(const CompareCommand& command, const compare::Summary& summary) {
  // A rank without a partner is unmatched as a whole.
  return std::any_of(command.fail_on.begin(), command.fail_on.end(), [&](compare::Result result) {
    return summary.counts[static_cast<std::size_t>(result)] > 0 ||
           (result == compare::Result::kUnmatched && !summary.unpaired.empty());
  });
}

}  // namespace

int compare_command(const Words& words) {
  const CompareCommand command = parse_compare(words);
  const compare::Summary summary = run_with_progress(command);
  if (!command.quiet) {
    std::cout << report::summary_text(summary, {.colours = wants_colours(STDOUT_FILENO)}) << std::flush;
  }
  bool all_compared = true;
  for (const compare::PairSummary& pair : summary.pairs) {
    for (const std::string& warning : pair.warnings) {
      std::cerr << "msprobe compare: warning: " << report::pair_title(pair, summary) << warning << "\n";
    }
    if (!pair.error.empty()) {
      std::cerr << "msprobe compare: " << report::pair_title(pair, summary) << pair.error << "\n";
      all_compared = false;
    }
  }
  if (!all_compared) {
    return kNotCompared;
  }
  return is_met(command, summary) ? kFailOnMet : 0;
}

}  // namespace msprobe::cli

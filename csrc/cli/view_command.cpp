// SPDX-License-Identifier: Apache-2.0
// Runs `msprobe view`: writes the page, says what stands out, chooses the exit code.
#include "cli/view_command.h"

#include <algorithm>
#include <iostream>
#include <string>

#include "cli/terminal.h"
#include "cli/view_options.h"
#include "report/view_page.h"

namespace msprobe::cli {
namespace {

constexpr int kFailOnMet = 1;
constexpr int kNotRead = 2;

report::ViewReport run(const ViewCommand& command) {
  if (command.quiet) {
    return report::write_view(command.options);
  }
  ProgressBar bar;
  return report::write_view(command.options, &bar);
}

bool is_met(const ViewCommand& command, const report::ViewedDump& dump) {
  return std::any_of(command.fail_on.begin(), command.fail_on.end(), [&](ViewFailure failure) {
    constexpr auto kNotFinite = static_cast<std::size_t>(report::SignKind::kNotFinite);
    switch (failure) {
      case ViewFailure::kNotFinite:
        return dump.signs.at(kNotFinite) > 0;
      case ViewFailure::kBroken:
        return dump.broken > 0;
      case ViewFailure::kSign:
        return std::any_of(dump.signs.begin(), dump.signs.end(), [](std::uint64_t count) { return count > 0; });
    }
    return false;
  });
}

}  // namespace

int view_command(const Words& words) {
  const ViewCommand command = parse_view(words);
  const report::ViewReport report = run(command);
  bool all_read = true;
  bool met = false;
  for (const report::ViewedDump& dump : report.dumps) {
    std::string title = report::title_of(dump, report);
    title += title.empty() ? "" : ": ";
    met = met || is_met(command, dump);
    if (!dump.error.empty()) {
      std::cerr << "msprobe view: " << title << dump.error << "\n";
      all_read = false;
    } else if (!command.quiet) {
      std::cout << title << dump.rows << " rows\n";
      for (const std::string& sentence : dump.sentences) {
        std::cout << "  " << sentence << "\n";
      }
    }
  }
  if (!command.quiet) {
    std::cout << report.file << "\n" << std::flush;
  }
  if (!all_read) {
    return kNotRead;
  }
  return met ? kFailOnMet : 0;
}

}  // namespace msprobe::cli

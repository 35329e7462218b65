// SPDX-License-Identifier: Apache-2.0
// Parses the options of `msprobe view`, writes the page, says what stands out.
#include "cli/view_command.h"

#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "cli/option_values.h"
#include "cli/parser.h"
#include "cli/terminal.h"
#include "report/view_page.h"

namespace msprobe::cli {
namespace {

constexpr int kNotRead = 2;

report::ViewReport run(const report::ViewOptions& options, bool quiet) {
  if (quiet) {
    return report::write_view(options);
  }
  ProgressBar bar;
  return report::write_view(options, &bar);
}

}  // namespace

int view_command(const Words& words) {
  report::ViewOptions options;
  std::vector<std::string> ranks;
  std::vector<std::string> steps;
  std::string threads;
  bool quiet = false;
  CLI::App app;
  app.set_help_flag();
  app.add_option("DUMP", options.dump)->required();
  app.add_option("-o,--output_path", options.output);
  // One word each: what follows may be the dump.
  app.add_option("--rank", ranks)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--step", steps)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  const CLI::Option* threads_option = app.add_option("--threads", threads);
  app.add_flag("--quiet", quiet);
  parse_words(app, with_long_names(words, {}));
  options.ranks = parse_ranges("--rank", ranks);
  options.steps = parse_ranges("--step", steps);
  if (threads_option->count() > 0) {
    options.threads = parse_threads(threads);
  }

  const report::ViewReport report = run(options, quiet);
  bool all_read = true;
  for (const report::ViewedDump& dump : report.dumps) {
    const std::string title = dump.title.empty() ? "" : dump.title + ": ";
    if (!dump.error.empty()) {
      std::cerr << "msprobe view: " << title << dump.error << "\n";
      all_read = false;
    } else if (!quiet) {
      std::cout << title << dump.rows << " rows\n";
      for (const std::string& sentence : dump.sentences) {
        std::cout << "  " << sentence << "\n";
      }
    }
  }
  if (!quiet) {
    std::cout << report.file << "\n" << std::flush;
  }
  return all_read ? 0 : kNotRead;
}

}  // namespace msprobe::cli

// SPDX-License-Identifier: Apache-2.0
// Parses the options of `msprobe view`.
#include "cli/view_options.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/option_values.h"
#include "cli/parser.h"

namespace msprobe::cli {
namespace {

std::set<ViewFailure> parse_fail_on(const std::vector<std::string>& names) {
  std::set<ViewFailure> failures;
  for (const std::string& name : names) {
    if (name == "nan") {
      failures.insert(ViewFailure::kNotFinite);
    } else if (name == "broken") {
      failures.insert(ViewFailure::kBroken);
    } else if (name == "warning") {
      failures.insert({ViewFailure::kSign, ViewFailure::kNotFinite, ViewFailure::kBroken});
    } else if (name != "never") {
      fail("--fail-on must be of nan, broken, warning and never, got '", name, "'");
    }
  }
  return failures;
}

}  // namespace

ViewCommand parse_view(const Words& words) {
  ViewCommand command;
  report::ViewOptions& options = command.options;
  std::vector<std::string> ranks;
  std::vector<std::string> steps;
  std::vector<std::string> fail_on;
  std::string threads;
  CLI::App app;
  app.set_help_flag();
  app.add_option("DUMP", options.dump)->required();
  app.add_option("-o,--output_path", options.output);
  // One word each: what follows may be the dump.
  const auto add_list = [&](const char* name, std::vector<std::string>& values) {
    app.add_option(name, values)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  add_list("--rank", ranks);
  add_list("--step", steps);
  add_list("--fail_on", fail_on);
  const CLI::Option* threads_option = app.add_option("--threads", threads);
  app.add_flag("--quiet", command.quiet);
  parse_words(app, with_long_names(words, {}));
  options.ranks = parse_ranges("--rank", ranks);
  options.steps = parse_ranges("--step", steps);
  command.fail_on = parse_fail_on(split_list(fail_on));
  if (threads_option->count() > 0) {
    options.threads = parse_threads(threads);
  }
  return command;
}

}  // namespace msprobe::cli

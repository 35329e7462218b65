// SPDX-License-Identifier: Apache-2.0
// Parses the options of `msprobe merge_result`, merges, says what was written.
#include "cli/merge_command.h"

#include <iostream>
#include <string>

#include "cli/parser.h"
#include "compare/run.h"
#include "report/merge.h"

namespace msprobe::cli {
namespace {

const ShortNames kShortNames = {{"-config", "--config_path"}};

}  // namespace

int merge_command(const Words& words) {
  report::MergeOptions options;
  CLI::App app;
  app.set_help_flag();
  app.add_option("-i,--input_dir", options.input)->required();
  app.add_option("-o,--output_dir", options.output)->required();
  app.add_option("--config_path", options.config)->required();
  parse_words(app, with_long_names(words, kShortNames));
  options.timestamp = compare::local_timestamp();
  const report::MergeReport merged = report::merge_results(options);
  std::cout << merged.rows << " rows of " << merged.ranks << " ranks merged\n";
  for (const std::string& file : merged.files) {
    std::cout << file << "\n";
  }
  std::cout << std::flush;
  for (const std::string& note : merged.notes) {
    std::cerr << "msprobe merge_result: warning: " << note << "\n";
  }
  return 0;
}

}  // namespace msprobe::cli

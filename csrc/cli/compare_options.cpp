// SPDX-License-Identifier: Apache-2.0
// Parses the options of `msprobe compare`.
#include "cli/compare_options.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include "base/error.h"
#include "cli/option_values.h"
#include "cli/parser.h"
#include "report/csv.h"
#include "report/jsonl.h"
#include "report/page.h"
#include "report/parquet.h"
#include "report/xlsx.h"

namespace msprobe::cli {
namespace {

const ShortNames kShortNames = {{"-tp", "--target_path"},  {"-gp", "--golden_path"},  {"-fm", "--fuzzy_match"},
                                {"-dm", "--data_mapping"}, {"-cm", "--cell_mapping"}, {"-da", "--diff_analyze"}};

constexpr const char* kHtml = "html";

compare::OutputFormat parse_format(const std::string& name) {
  if (name == "csv") {
    return {".csv", report::csv_writer};
  }
  if (name == "xlsx") {
    return {".xlsx", report::xlsx_writer};
  }
  if (name == "parquet") {
    return {".parquet", report::parquet_writer};
  }
  if (name == "jsonl") {
    return {".jsonl", report::jsonl_writer};
  }
  fail("--format must be of csv, xlsx, parquet, jsonl and html, got '", name, "'");
}

void parse_formats(std::vector<std::string> names, bool xlsx, bool html, compare::Options& options) {
  if (xlsx) {
    names.emplace_back("xlsx");
  }
  if (names.empty()) {
    names.emplace_back("csv");
  }
  if (html) {
    names.emplace_back(kHtml);
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      continue;
    }
    if (name == kHtml) {
      options.whole_formats.push_back({".html", report::page_writer});
    } else {
      options.formats.push_back(parse_format(name));
    }
  }
}

std::set<compare::Result> parse_fail_on(const std::vector<std::string>& names) {
  std::set<compare::Result> results;
  for (const std::string& name : names) {
    if (name == "error") {
      results.insert(compare::Result::kError);
    } else if (name == "warning") {
      results.insert({compare::Result::kWarning, compare::Result::kError});
    } else if (name == "unmatched") {
      results.insert(compare::Result::kUnmatched);
    } else if (name != "never") {
      fail("--fail-on must be of error, warning, unmatched and never, got '", name, "'");
    }
  }
  return results;
}

std::optional<double> parse_tolerance(const std::string& option, const std::string& text) {
  double number = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number) || number < 0) {
    fail(option, " must be a number that is not negative, such as 1e-3, got '", text, "'");
  }
  return number;
}

}  // namespace

CompareCommand parse_compare(const Words& words) {
  CompareCommand command;
  compare::Options& options = command.options;
  std::vector<std::string> formats;
  std::vector<std::string> fail_on;
  std::vector<std::string> ranks;
  std::vector<std::string> steps;
  std::string rtol;
  std::string atol;
  std::string threads;
  bool xlsx = false;
  bool html = false;

  CLI::App app;
  app.set_help_flag();  // the help is ours: the parser knows no short names of two letters
  app.add_option("--target_path", options.target)->required();
  app.add_option("--golden_path", options.golden)->required();
  app.add_option("-o,--output_path", options.output);
  app.add_option("--format", formats)->expected(1, std::numeric_limits<int>::max());
  app.add_flag("--xlsx", xlsx);
  app.add_flag("--html", html);
  app.add_flag("--fuzzy_match", options.fuzzy);
  app.add_option("--data_mapping", options.data_map);
  const CLI::Option* cell_mapping = app.add_option("--cell_mapping", options.cell_map)->expected(0, 1);
  app.add_flag("--diff_analyze", options.diff_analyze);
  app.add_flag("--hints", options.hints);
  app.add_option("--rank", ranks)->expected(1, std::numeric_limits<int>::max());
  app.add_option("--step", steps)->expected(1, std::numeric_limits<int>::max());
  const CLI::Option* rtol_option = app.add_option("--rtol", rtol);
  const CLI::Option* atol_option = app.add_option("--atol", atol);
  app.add_option("--fail_on", fail_on)->expected(1, std::numeric_limits<int>::max());
  app.add_flag("--quiet", command.quiet);
  const CLI::Option* threads_option = app.add_option("--threads", threads);
  parse_words(app, with_long_names(words, kShortNames));

  parse_formats(split_list(formats), xlsx, html, options);
  options.cell_mapping = cell_mapping->count() > 0;
  options.ranks = parse_ranges("--rank", ranks);
  options.steps = parse_ranges("--step", steps);
  command.fail_on = parse_fail_on(split_list(fail_on));
  if (rtol_option->count() > 0) {
    options.tolerance.rtol = parse_tolerance("--rtol", rtol);
  }
  if (atol_option->count() > 0) {
    options.tolerance.atol = parse_tolerance("--atol", atol);
  }
  if (threads_option->count() > 0) {
    options.threads = parse_threads(threads);
  }
  return command;
}

}  // namespace msprobe::cli

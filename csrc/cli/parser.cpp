// SPDX-License-Identifier: Apache-2.0
// One line for each of CLI11's errors.
#include "cli/parser.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"

namespace msprobe::cli {
namespace {

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  // A misspelt option leaves its right spelling missing; the word that was given tells more.
  if (const std::vector<std::string> unknown = app.remaining(); !unknown.empty()) {
    return unknown.front().starts_with('-') ? "there is no option '" + unknown.front() + "'"
                                            : "'" + unknown.front() + "' stands behind no option that takes it";
  }
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = text.substr(0, text.find(':'));
    return name + (text.find("missing") != std::string::npos ? " needs a value behind it" : " may be given once only");
  }
  return text;
}

}  // namespace

void parse_words(CLI::App& app, const Words& words) {
  Words backwards = words;  // the parser takes them from the end
  std::reverse(backwards.begin(), backwards.end());
  try {
    app.parse(backwards);
  } catch (const CLI::ParseError& error) {
    fail(explain(app, error));
  }
}

}  // namespace msprobe::cli

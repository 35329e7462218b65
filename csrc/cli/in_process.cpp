// SPDX-License-Identifier: Apache-2.0
// libmsprobe_compare.so: `msprobe compare` as one C function, for msprobe.compare() in Python.
#include <cstddef>
#include <exception>
#include <string>

#include "base/error.h"
#include "cli/compare_options.h"
#include "compare/run.h"
#include "dump/json.h"
#include "report/summary_json.h"

namespace {

std::string answer(const msprobe::cli::Words& words) {
  int number = 0;
  std::string text;
  try {
    const msprobe::cli::CompareCommand command = msprobe::cli::parse_compare(words);
    return R"({"summary": )" + msprobe::report::summary_json(msprobe::compare::run(command.options)) + "}";
  } catch (const msprobe::FileError& error) {
    number = error.errno_value();
    text = error.what();
  } catch (const std::exception& error) {
    text = error.what();
  }
  std::string out = R"({"errno": )" + std::to_string(number) + R"(, "error": )";
  msprobe::dump::append_json_string(out, text);
  return out + "}";
}

}  // namespace

// The words are those of the command line. The answer is a JSON object: `summary`, or `error` with `errno` (0: the input is wrong).
// It is this thread's, and valid until its next call. Prints nothing. Any number of threads may call it at once.
extern "C" [[gnu::visibility("default")]] const char* msprobe_compare(const char* const* words, std::size_t count) {
  thread_local std::string kept;
  kept = answer({words, words + count});
  return kept.c_str();
}

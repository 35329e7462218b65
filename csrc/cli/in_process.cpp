// SPDX-License-Identifier: Apache-2.0
// libmsprobe_compare.so: `msprobe compare` and `msprobe view` as C functions, for msprobe.compare() and msprobe.view() in Python.
#include <cstddef>
#include <exception>
#include <string>

#include "base/error.h"
#include "cli/compare_options.h"
#include "cli/view_options.h"
#include "compare/run.h"
#include "dump/json.h"
#include "report/summary_json.h"
#include "report/view_page.h"

namespace {

using Words = msprobe::cli::Words;

// {"summary": what `work` returns}, or why it could not.
const char* answer(const char* const* words, std::size_t count, std::string (*work)(const Words&)) {
  thread_local std::string kept;
  int number = 0;
  std::string text;
  try {
    kept = R"({"summary": )" + work({words, words + count}) + "}";
    return kept.c_str();
  } catch (const msprobe::FileError& error) {
    number = error.errno_value();
    text = error.what();
  } catch (const std::exception& error) {
    text = error.what();
  }
  kept = R"({"errno": )" + std::to_string(number) + R"(, "error": )";
  msprobe::dump::append_json_string(kept, text);
  kept += '}';
  return kept.c_str();
}

std::string compared(const Words& words) {
  return msprobe::report::summary_json(msprobe::compare::run(msprobe::cli::parse_compare(words).options));
}

std::string viewed(const Words& words) {
  return msprobe::report::view_json(msprobe::report::write_view(msprobe::cli::parse_view(words).options));
}

}  // namespace

// The words are those of the command line. The answer is a JSON object: `summary`, or `error` with `errno` (0: the input is wrong).
// It is this thread's, and valid until its next call. They print nothing. Any number of threads may call them at once.
extern "C" [[gnu::visibility("default")]] const char* msprobe_compare(const char* const* words, std::size_t count) {
  return answer(words, count, compared);
}
extern "C" [[gnu::visibility("default")]] const char* msprobe_view(const char* const* words, std::size_t count) {
  return answer(words, count, viewed);
}

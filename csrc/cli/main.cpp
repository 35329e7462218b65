// SPDX-License-Identifier: Apache-2.0
// The program `msprobe`: chooses the command, and makes one line and exit code 2 of an error.
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "base/error.h"
#include "cli/compare_command.h"
#include "cli/help.h"
#include "cli/hostnpu_command.h"
#include "cli/merge_command.h"
#include "cli/view_command.h"
#include "cli/words.h"

namespace msprobe::cli {
namespace {

constexpr int kUsageError = 2;

// An error of a command has its name in front, as its help has.
int run_command(const std::string& command, std::string_view help, int (*run)(const Words&), const Words& words) {
  if (asks_for_help(words)) {
    std::cout << help;
    return 0;
  }
  // A reader that has gone (`msprobe compare ... | head`) is no reason to stop before the files are written.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(words);
  } catch (const std::bad_alloc&) {
    std::cerr << "msprobe " << command << ": out of memory; free some, or compare fewer ranks at a time (--rank)\n";
  } catch (const std::exception& error) {
    std::cerr << "msprobe " << command << ": " << error.what() << "\n";
  }
  return kUsageError;
}

int run_program(const Words& words) {
  if (words.empty()) {
    std::cerr << "msprobe: a command is missing; `msprobe --help` lists what there is\n";
    return kUsageError;
  }
  const std::string& command = words.front();
  const Words rest(words.begin() + 1, words.end());
  if (command == "-h" || command == "--help" || command == "help") {
    std::cout << program_help();
    return 0;
  }
  if (command == "--version") {
    std::cout << "msprobe " << MSPROBE_VERSION << "\n";
    return 0;
  }
  if (command == "compare") {
    return run_command(command, compare_help(), compare_command, rest);
  }
  if (command == "view") {
    return run_command(command, view_help(), view_command, rest);
  }
  if (command == "merge_result" || command == "merge-result") {
    return run_command("merge_result", merge_help(), merge_command, rest);
  }
  if (command == "hostnpu") {
    try {
      hostnpu_command(rest);  // its help is its own
    } catch (const std::exception& error) {
      std::cerr << "msprobe hostnpu: " << error.what() << "\n";
      return kUsageError;
    }
  }
  std::cerr << "msprobe: there is no " << (command.starts_with('-') ? "option" : "command") << " '" << command
            << "'; `msprobe --help` lists what there is\n";
  return kUsageError;
}

}  // namespace
}  // namespace msprobe::cli

int main(int count, char** words) {
  try {
    const int code = msprobe::cli::run_program({words + (count > 0 ? 1 : 0), words + count});
    std::cout.flush();
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "msprobe: %s\n", error.what());
    return 2;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Finds Python and becomes it.
#include "cli/hostnpu_command.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace msprobe::cli {
namespace {

namespace fs = std::filesystem;

// As `python3 -m msprobe.hostnpu`, but without the working folder on the path, where a clone of some msprobe may lie.
constexpr const char* kProgram =
    "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "
    "from msprobe.hostnpu.__main__ import main; sys.exit(main())";

// Beside the program: a virtual environment, conda, a Python built by hand. Elsewhere (pip install --user) the one of the path.
std::string find_python() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* name : {"python3", "python"}) {
    const fs::path python = folder / name;
    if (!folder.empty() && access(python.c_str(), X_OK) == 0) {
      return python.string();
    }
  }
  return "python3";
}

}  // namespace

void hostnpu_command(const Words& words) {
  Words command = {find_python(), "-c", kProgram};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : command) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  fail("cannot start '", command[0], "', which hostnpu is written for: ", std::generic_category().message(errno),
       "; install Python 3.10 or newer and msprobe into one environment");
}

}  // namespace msprobe::cli

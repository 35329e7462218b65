// SPDX-License-Identifier: Apache-2.0
// Text of file errors.
#include "base/error.h"

#include <system_error>

namespace msprobe {

FileError::FileError(const std::string& action, const std::string& path, int errno_value)
    : Error("cannot " + action + " '" + path + "': " + std::generic_category().message(errno_value)),
      errno_value_(errno_value) {}

void fail_file(const std::string& action, const std::string& path, int errno_value) {
  throw FileError(action, path, errno_value);
}

}  // namespace msprobe

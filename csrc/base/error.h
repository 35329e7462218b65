// SPDX-License-Identifier: Apache-2.0
// The one place that throws. A message has: subject, rule, value got, what to do.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace msprobe {

// A caller's or the system's fault, told to the user as it stands. Broken invariants are assert()s, not Errors.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

// A system call that failed on a path; what() ends with errno's text.
class FileError : public Error {
 public:
  FileError(const std::string& action, const std::string& path, int errno_value);
  [[nodiscard]] int errno_value() const noexcept { return errno_value_; }

 private:
  int errno_value_;
};

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

[[noreturn]] void fail_file(const std::string& action, const std::string& path, int errno_value);

}  // namespace msprobe

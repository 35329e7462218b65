// SPDX-License-Identifier: Apache-2.0
// Opens a file that a dump names, and never one outside the dump's folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace msprobe::read {

// Owns an open file.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  void reset() noexcept;

  int fd_ = -1;
};

// Opens the regular file `name`, a path relative to `folder`, for reading. Absolute names, "..", and symbolic links that lead out of the
// folder are an Error; so is whatever is no regular file (a pipe would block). A link that stays inside is followed where the kernel
// can check that (openat2, Linux 5.6), and refused elsewhere.
FileDescriptor open_inside(const std::string& folder, std::string_view name);

// Without the kernel's help, as on an old one: for the tests.
namespace detail {
FileDescriptor open_inside(const std::string& folder, std::string_view name, bool kernel_checks);
}  // namespace detail

// Opens a regular file by a path that the user gave; links are followed.
FileDescriptor open_regular(const std::string& path);

}  // namespace msprobe::read

// SPDX-License-Identifier: Apache-2.0
// Asks the kernel to stay below the folder; where it cannot, walks the path itself and follows no link.
#include "read/open_inside.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>

#include "base/error.h"

namespace msprobe::read {
namespace {

// Not blocking: opening a pipe would wait for a writer. It changes nothing for a regular file.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

void check_name(const std::string& folder, std::string_view name) {
  if (name.empty()) {
    fail("a tensor's file in '", folder, "' must have a name, got an empty one");
  }
  if (name.find('\0') != std::string_view::npos) {
    fail("a file name in '", folder, "' must not hold a zero byte, got '", name.substr(0, name.find('\0')),
         "' and more behind it");
  }
  const std::filesystem::path path(name);
  bool up = false;
  for (const std::filesystem::path& part : path) {
    up = up || part == "..";
  }
  if (path.is_absolute() || up) {
    fail("a tensor's file must lie inside '", folder, "', got the name '", name, "'; it is not opened");
  }
}

// -1 with errno, as openat() has it.
int open_beneath(int folder, const std::string& name) {
  open_how how{};
  how.flags = kReadFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how));
}

int open_without_links(int folder, const std::string& name) {
  FileDescriptor parent;
  int at = folder;
  for (std::size_t begin = 0;;) {
    const std::size_t end = name.find('/', begin);
    const std::string part = name.substr(begin, end == std::string::npos ? end : end - begin);
    if (end == std::string::npos) {
      return openat(at, part.empty() ? "." : part.c_str(), kReadFlags | O_NOFOLLOW);
    }
    begin = end + 1;
    if (part.empty() || part == ".") {
      continue;
    }
    // Without O_DIRECTORY a link is opened as itself, which tells it from a file in a folder's place.
    const int next = openat(at, part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) {
      return -1;
    }
    parent = FileDescriptor(next);
    at = parent.get();
    struct stat status{};
    if (fstat(at, &status) == 0 && S_ISLNK(status.st_mode)) {
      errno = ELOOP;
      return -1;
    }
  }
}

FileDescriptor require_regular(FileDescriptor file, const std::string& path) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0) {
    fail_file("look at", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    fail("'", path, "' must be a regular file, got ", S_ISDIR(status.st_mode) ? "a folder" : "a pipe, socket or device");
  }
  return file;
}

}  // namespace

void FileDescriptor::reset() noexcept {
  if (fd_ >= 0) {
    close(fd_);
    fd_ = -1;
  }
}

namespace detail {

FileDescriptor open_inside(const std::string& folder, std::string_view name, bool kernel_checks) {
  check_name(folder, name);
  const FileDescriptor root(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) {
    fail_file("open the folder", folder, errno);
  }
  const std::string relative(name);
  const std::string path = folder + "/" + relative;
  int fd = -1;
  int error = ENOSYS;
  // EAGAIN: something was renamed meanwhile, and the kernel could not be sure.
  constexpr int kTries = 100;
  for (int tries = 0; kernel_checks && tries < kTries && (tries == 0 || error == EAGAIN); ++tries) {
    fd = open_beneath(root.get(), relative);
    error = fd < 0 ? errno : 0;
  }
  // ENOSYS: an old kernel. EPERM: a container's filter that does not know the call; a file's own refusal is EACCES.
  if (error == ENOSYS || error == EPERM || error == EAGAIN) {
    fd = open_without_links(root.get(), relative);
    error = fd < 0 ? errno : 0;
  }
  if (error == EXDEV || error == ELOOP) {
    fail("'", path, "' must not lead out of '", folder,
         "', got a symbolic link that does, or that cannot be checked; it is not opened");
  }
  if (fd < 0) {
    fail_file("open", path, error);
  }
  return require_regular(FileDescriptor(fd), path);
}

}  // namespace detail

FileDescriptor open_inside(const std::string& folder, std::string_view name) { return detail::open_inside(folder, name, true); }

FileDescriptor open_regular(const std::string& path) {
  FileDescriptor file(open(path.c_str(), kReadFlags));
  if (file.get() < 0) {
    fail_file("open", path, errno);
  }
  return require_regular(std::move(file), path);
}

}  // namespace msprobe::read

// SPDX-License-Identifier: Apache-2.0
// Temporary file, buffered writes, rename.
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.h"

namespace msprobe {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;
constexpr mode_t kFileMode = 0644;
constexpr mode_t kFolderMode = 0755;
constexpr off_t kBehind = -1;

constexpr int kMostSuffixes = 100000;

std::string with_suffix(const std::string& path, int number) {
  if (number == 0) {
    return path;
  }
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot <= name) {
    dot = path.size();
  }
  return path.substr(0, dot) + "_" + std::to_string(number) + path.substr(dot);
}

// Gives errno's value, 0 for success and EEXIST where `path` is taken. A hard link never replaces, and every system has it; file
// systems without links (FAT, some network ones) are asked for a rename that does not replace, which newer kernels know.
int rename_unless_taken(const std::string& temporary, const std::string& path) {
  if (link(temporary.c_str(), path.c_str()) == 0) {
    unlink(temporary.c_str());
    return 0;
  }
  if (errno == EEXIST) {
    return EEXIST;
  }
  return renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
}

}  // namespace

// Two threads, or two processes, that write the same path at once must not share a temporary file.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(counter.fetch_add(1));
}

std::string place_new(const std::string& temporary, const std::string& wanted) {
  int reason = EEXIST;
  for (int number = 0; number < kMostSuffixes && reason == EEXIST; ++number) {
    const std::string path = with_suffix(wanted, number);
    reason = rename_unless_taken(temporary, path);
    if (reason == 0) {
      return path;
    }
  }
  unlink(temporary.c_str());
  fail_file("write", wanted, reason);
}

TemporaryFolder::TemporaryFolder(const std::string& path) : path_(temporary_name(path)) {
  if (mkdir(path_.c_str(), S_IRWXU) != 0) {
    fail_file("create", path, errno);
  }
}

// rmdir: what lies in it has been removed by the one who made it.
TemporaryFolder::~TemporaryFolder() { rmdir(path_.c_str()); }

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (fd_ < 0) {
    fail_file("create", path_, errno);
  }
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    close(fd_);
    unlink(temporary_.c_str());
  }
}

void AtomicFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    flush();
  }
  if (bytes.size() >= kBufferBytes) {
    write_all(bytes, kBehind);
  } else {
    buffer_.append(bytes);
  }
}

void AtomicFile::flush() {
  write_all(buffer_, kBehind);
  buffer_.clear();
}

void AtomicFile::overwrite_front(std::string_view bytes) {
  flush();
  write_all(bytes, 0);
}

void AtomicFile::write_all(std::string_view bytes, off_t at) {
  while (!bytes.empty()) {
    const ssize_t written =
        at == kBehind ? ::write(fd_, bytes.data(), bytes.size()) : pwrite(fd_, bytes.data(), bytes.size(), at);
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail_file("write", path_, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at = at == kBehind ? kBehind : at + written;
  }
}

void AtomicFile::close_file() {
  flush();
  // Some file systems (NFS, quotas) tell a failed write only here.
  const int closed = close(std::exchange(fd_, -1));
  if (closed != 0) {
    const int reason = errno;
    unlink(temporary_.c_str());
    fail_file("write", path_, reason);
  }
}

void AtomicFile::commit() {
  close_file();
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary_.c_str());
    fail_file("write", path_, reason);
  }
}

std::string AtomicFile::commit_new() {
  close_file();
  return place_new(temporary_, path_);
}

void create_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string prefix = path.substr(0, end);
    if (mkdir(prefix.c_str(), kFolderMode) != 0) {
      const int reason = errno;
      struct stat info{};
      if (stat(prefix.c_str(), &info) != 0) {
        fail_file("create folder", prefix, reason);
      }
      if (!S_ISDIR(info.st_mode)) {
        fail_file("create folder", prefix, ENOTDIR);
      }
    }
    if (end == std::string::npos) {
      return;
    }
  }
}

}  // namespace msprobe

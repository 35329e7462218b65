// SPDX-License-Identifier: Apache-2.0
// A file that appears complete or not at all: written beside its place under a temporary name, then renamed over it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace msprobe {

// One thread at a time. Every failure is a FileError; an object destroyed before commit() leaves nothing behind.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void overwrite_front(std::string_view bytes);  // the first bytes of what was written
  void commit();
  std::string commit_new();  // as place_new(): replaces nothing; returns the path the file got

 private:
  void close_file();
  void flush();
  void write_all(std::string_view bytes, off_t at);  // kBehind: after what is there

  std::string path_;
  std::string temporary_;
  std::string buffer_;
  int fd_ = -1;
};

// Renames `temporary` to `wanted`, or, where that name is taken, to the first free one with _1, _2, ... before the extension.
// No file is ever replaced, whoever else does the same at the same moment. Returns the path; on failure removes `temporary`.
std::string place_new(const std::string& temporary, const std::string& wanted);

// A folder of the temporary name beside `path`, for the files of a library that wants to name them itself; gone with this object. Only
// kill -9 leaves it there. Throws a FileError where it cannot be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& path);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A name beside `path` for a file in the making, which no other thread or process uses.
std::string temporary_name(const std::string& path);

// mkdir -p; an existing folder is fine, anything else in its place is a FileError.
void create_folders(const std::string& path);

}  // namespace msprobe

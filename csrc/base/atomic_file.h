// SPDX-License-Identifier: Apache-2.0
// A file that appears complete or not at all: written beside its place under a temporary name, then renamed over it.
#pragma once

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
  void commit();
  std::string commit_new();  // as place_new(): replaces nothing; returns the path the file got

 private:
  void close_file();
  void flush();
  void write_all(const char* data, std::size_t size);

  std::string path_;
  std::string temporary_;
  std::string buffer_;
  int fd_ = -1;
};

// Renames `temporary` to `wanted`, or, where that name is taken, to the first free one with _1, _2, ... before the extension.
// No file is ever replaced, whoever else does the same at the same moment. Returns the path; on failure removes `temporary`.
std::string place_new(const std::string& temporary, const std::string& wanted);

// A name beside `path` for a file in the making, which no other thread or process uses.
std::string temporary_name(const std::string& path);

// mkdir -p; an existing folder is fine, anything else in its place is a FileError.
void create_folders(const std::string& path);

}  // namespace msprobe

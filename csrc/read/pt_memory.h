// SPDX-License-Identifier: Apache-2.0
// Memory that holds a file's bytes: the mapped file, or what a compressed entry unpacks to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "read/open_inside.h"
#include "read/pt_zip.h"

namespace msprobe::read {

// A part of the address space backed by a file. Many threads may read it.
class MappedMemory {
 public:
  // Maps a whole file to read. A file of no bytes has no memory.
  static std::shared_ptr<MappedMemory> map_file(const FileDescriptor& file, const std::string& path);

  // Unpacks a deflated entry, piece by piece, into an unlinked temporary file in TMPDIR (or /tmp), and maps that. Throws Error if the
  // entry does not unpack to exactly the bytes it announces.
  static std::shared_ptr<MappedMemory> inflate(const ZipEntry& entry, const std::string& path);

  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

  // Counts what was read; once it is a good deal, gives the pages back to the system.
  void release(std::size_t bytes_read) noexcept;

 private:
  MappedMemory(const std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}
  static std::shared_ptr<MappedMemory> map(const FileDescriptor& file, std::size_t size, const std::string& path);

  const std::byte* data_;
  std::size_t size_;
  std::atomic<std::size_t> read_{0};
};

// Unpacks a deflated entry into memory; `limit` bounds what it may announce. For descriptions, not for data.
std::string inflate_text(const ZipEntry& entry, const std::string& path, std::size_t limit);

}  // namespace msprobe::read

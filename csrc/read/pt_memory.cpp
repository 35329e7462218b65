// SPDX-License-Identifier: Apache-2.0
// Maps files, and unpacks entries through a buffer of fixed size.
#include "read/pt_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/error.h"
#include "read/printable.h"

namespace msprobe::read {
namespace {

// So much is read before pages are given back. Giving back costs a fault for every 64 KiB that is read again.
constexpr std::size_t kReleaseBytes = std::size_t{64} << 20U;
constexpr std::size_t kPieceBytes = std::size_t{1} << 18U;
// Deflate cannot pack tighter than this; what announces more does not unpack to it.
constexpr std::uint64_t kBestRatio = 1032;

FileDescriptor open_unlinked(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {  // not every file system has unnamed files
    std::string name = folder + "/msprobe_XXXXXX";
    file = FileDescriptor(mkostemp(name.data(), O_CLOEXEC));
    if (file.get() >= 0) {
      unlink(name.c_str());
    }
  }
  if (file.get() < 0) {
    fail_file("make a temporary file in", folder, errno);
  }
  return file;
}

// Unpacks an entry and hands over what comes out, piece by piece. Checks size and checksum at the end.
class Inflater {
 public:
  Inflater(const ZipEntry& entry, const std::string& path) : entry_(entry), path_(path) {
    if (entry.size > entry.packed.size() * kBestRatio + kPieceBytes) {
      fail_here("announces ", entry.size, " bytes, more than ", entry.packed.size(), " packed bytes can hold");
    }
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {
      fail_here("cannot be unpacked: no memory for zlib");
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  template <class Take>
  void run(Take&& take) {
    std::vector<std::byte> piece(std::min<std::uint64_t>(kPieceBytes, entry_.size + 1));
    std::uint64_t total = 0;
    std::size_t fed = 0;
    uLong checksum = crc32(0, nullptr, 0);
    for (int result = Z_OK; result != Z_STREAM_END;) {
      if (stream_.avail_in == 0) {
        const std::size_t feed = std::min<std::size_t>(entry_.packed.size() - fed, std::numeric_limits<uInt>::max());
        stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(entry_.packed.data() + fed));  // zlib only reads it
        stream_.avail_in = static_cast<uInt>(feed);
        fed += feed;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = static_cast<uInt>(piece.size());
      result = ::inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = piece.size() - stream_.avail_out;
      if ((result != Z_OK && result != Z_STREAM_END) || (made == 0 && result == Z_OK && fed == entry_.packed.size())) {
        fail_here("cannot be unpacked: its packed bytes are broken or cut off after ", total + made, " bytes of ", entry_.size);
      }
      total += made;
      if (total > entry_.size) {
        fail_here("must unpack to the ", entry_.size, " bytes that it announces, got more");
      }
      checksum = crc32(checksum, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(made));
      take(std::span<const std::byte>(piece).first(made));
    }
    if (total != entry_.size || checksum != entry_.checksum) {
      fail_here("must unpack to ", entry_.size, " bytes of the checksum ", entry_.checksum, ", got ", total, " of ", checksum);
    }
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail("'", path_, "', byte ", entry_.offset, ": the entry '", printable(entry_.name), "' ", parts...);
  }

  const ZipEntry& entry_;
  const std::string& path_;
  z_stream stream_{};
};

void write_all(const FileDescriptor& file, std::span<const std::byte> bytes, const std::string& folder) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      fail_file("write a temporary file in", folder, errno);
    }
    bytes = bytes.subspan(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

}  // namespace

std::shared_ptr<MappedMemory> MappedMemory::map(const FileDescriptor& file, std::size_t size, const std::string& path) {
  void* data = nullptr;
  if (size > 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (data == MAP_FAILED) {
      fail_file("map", path, errno);
    }
  }
  return std::shared_ptr<MappedMemory>(new MappedMemory(static_cast<const std::byte*>(data), size));
}

std::shared_ptr<MappedMemory> MappedMemory::map_file(const FileDescriptor& file, const std::string& path) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0) {
    fail_file("look at", path, errno);
  }
  return map(file, static_cast<std::size_t>(status.st_size), path);
}

std::shared_ptr<MappedMemory> MappedMemory::inflate(const ZipEntry& entry, const std::string& path) {
  const char* const wanted = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  const std::string folder = wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
  Inflater inflater(entry, path);
  const FileDescriptor file = open_unlinked(folder);
  inflater.run([&](std::span<const std::byte> piece) { write_all(file, piece, folder); });
  return map(file, entry.size, path);
}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) {
    munmap(const_cast<std::byte*>(data_), size_);
  }
}

void MappedMemory::release(std::size_t bytes_read) noexcept {
  if (size_ < kReleaseBytes || read_.fetch_add(bytes_read, std::memory_order_relaxed) + bytes_read < kReleaseBytes) {
    return;
  }
  read_.store(0, std::memory_order_relaxed);
  // Other threads that are reading now find their pages again in the file: nothing is lost.
  madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

std::string inflate_text(const ZipEntry& entry, const std::string& path, std::size_t limit) {
  if (entry.size > limit) {
    fail("'", path, "', byte ", entry.offset, ": the entry '", printable(entry.name), "' must have at most ", limit,
         " bytes, got ", entry.size);
  }
  std::string text;
  Inflater(entry, path).run([&text](std::span<const std::byte> piece) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return text;
}

}  // namespace msprobe::read

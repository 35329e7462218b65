// SPDX-License-Identifier: Apache-2.0
// Zip from the end: the end record, its zip64 extension, the directory, and each entry's own header.
#include "read/pt_zip.h"

#include <set>

#include "base/error.h"
#include "read/printable.h"

namespace msprobe::read {
namespace {

constexpr std::uint32_t kEntrySignature = 0x04034b50;
constexpr std::uint32_t kDirectorySignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocator64Signature = 0x07064b50;
constexpr std::uint64_t kEntryBytes = 30;
constexpr std::uint64_t kDirectoryBytes = 46;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kEnd64Bytes = 56;
constexpr std::uint64_t kLocator64Bytes = 20;
constexpr std::uint64_t kLongestComment = 0xFFFF;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // in a 32-bit field: the value stands in the zip64 field
constexpr std::uint16_t kIn64Short = 0xFFFF;
constexpr std::uint16_t kZip64Field = 0x0001;
constexpr std::uint16_t kFlagEncrypted = 0x0041;  // bit 0, and bit 6: strongly
constexpr std::uint16_t kFlagPatched = 0x0020;
constexpr std::uint16_t kMethodStored = 0;
constexpr std::uint16_t kMethodDeflated = 8;
// torch.save writes one entry a storage and half a dozen beside; a file that holds one tensor has no use for more.
constexpr std::uint64_t kMostEntries = 100'000;

// Where the directory lies.
struct Directory {
  std::uint64_t entries;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t end;  // of everything that may hold entries and directory
};

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> file, const std::string& path) : file_(file), path_(path) {}

  std::vector<ZipEntry> read() {
    const Directory directory = find_directory();
    std::vector<ZipEntry> entries;
    std::set<std::string_view> names;
    std::uint64_t at = directory.offset;
    const std::uint64_t end = directory.offset + directory.size;
    for (std::uint64_t index = 0; index < directory.entries; ++index) {
      const ZipEntry entry = read_entry(at, end, directory.offset);
      if (!names.insert(entry.name).second) {
        fail_at(at, "a zip archive must name each entry once, got '", printable(entry.name), "' twice");
      }
      entries.push_back(entry);
    }
    if (at != end) {
      fail_at(at, "the zip directory must end with its last entry, got ", end - at, " bytes more");
    }
    return entries;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail_at(std::uint64_t offset, const Parts&... parts) const {
    fail("'", path_, "', byte ", offset, ": ", parts...);
  }

  // The caller has checked that the bytes are there.
  template <class Integer>
  [[nodiscard]] Integer get(std::uint64_t offset) const noexcept {
    std::uint64_t value = 0;
    for (std::size_t byte = 0; byte < sizeof(Integer); ++byte) {
      value |= static_cast<std::uint64_t>(file_[offset + byte]) << (8 * byte);
    }
    return static_cast<Integer>(value);
  }

  [[nodiscard]] std::string_view text(std::uint64_t offset, std::size_t bytes) const noexcept {
    return {reinterpret_cast<const char*>(file_.data()) + offset, bytes};
  }

  [[nodiscard]] std::uint64_t find_end() const {
    if (file_.size() >= kEndBytes) {
      const std::uint64_t last = file_.size() - kEndBytes;
      const std::uint64_t first = last > kLongestComment ? last - kLongestComment : 0;
      for (std::uint64_t at = last + 1; at-- > first;) {
        if (get<std::uint32_t>(at) == kEndSignature && at + kEndBytes + get<std::uint16_t>(at + 20) == file_.size()) {
          return at;
        }
      }
    }
    fail_at(file_.size(), "the zip archive has no end record: the file is cut off, or was not written to its end");
  }

  [[nodiscard]] Directory find_directory() const {
    const std::uint64_t end = find_end();
    Directory found{get<std::uint16_t>(end + 10), get<std::uint32_t>(end + 16), get<std::uint32_t>(end + 12), end};
    const bool one_disk =
        get<std::uint16_t>(end + 4) == get<std::uint16_t>(end + 6) && get<std::uint16_t>(end + 8) == found.entries;
    const bool in64 = found.entries == kIn64Short || found.offset == kIn64 || found.size == kIn64;
    if (end >= kLocator64Bytes && get<std::uint32_t>(end - kLocator64Bytes) == kLocator64Signature) {
      found = read_end64(end - kLocator64Bytes);
    } else if (in64) {
      fail_at(end, "the end record of the zip archive must have its zip64 locator before it, got none");
    } else if (!one_disk) {
      fail_at(end, "a zip archive must lie in one file, got a part of several");
    }
    if (found.size > found.end || found.offset > found.end - found.size) {
      fail_at(end, "the zip directory must lie before its end record, got offset ", found.offset, " and ", found.size,
              " bytes");
    }
    if (found.entries > kMostEntries || found.entries * kDirectoryBytes > found.size) {
      fail_at(end, "the zip directory must hold at most ", kMostEntries, " entries and room for them, got ", found.entries,
              " in ", found.size, " bytes");
    }
    return found;
  }

  [[nodiscard]] Directory read_end64(std::uint64_t locator) const {
    const auto at = get<std::uint64_t>(locator + 8);
    if (at > locator || locator - at < kEnd64Bytes || get<std::uint32_t>(at) != kEnd64Signature) {
      fail_at(locator, "the zip64 locator must lead to a zip64 end record before it, got offset ", at);
    }
    const auto entries = get<std::uint64_t>(at + 32);
    if (get<std::uint32_t>(at + 16) != get<std::uint32_t>(at + 20) || get<std::uint64_t>(at + 24) != entries) {
      fail_at(at, "a zip archive must lie in one file, got a part of several");
    }
    return {entries, get<std::uint64_t>(at + 48), get<std::uint64_t>(at + 40), at};
  }

  // Reads the directory's record at `at` and moves past it.
  ZipEntry read_entry(std::uint64_t& at, std::uint64_t end, std::uint64_t directory) const {
    if (end - at < kDirectoryBytes || get<std::uint32_t>(at) != kDirectorySignature) {
      fail_at(at, "the zip directory must have a record here, got something else or its end");
    }
    const auto flags = get<std::uint16_t>(at + 8);
    const auto method = get<std::uint16_t>(at + 10);
    std::uint64_t packed = get<std::uint32_t>(at + 20);
    ZipEntry entry;
    entry.checksum = get<std::uint32_t>(at + 16);
    entry.size = get<std::uint32_t>(at + 24);
    const std::size_t name_bytes = get<std::uint16_t>(at + 28);
    const std::size_t extra_bytes = get<std::uint16_t>(at + 30);
    const std::size_t comment_bytes = get<std::uint16_t>(at + 32);
    std::uint64_t header = get<std::uint32_t>(at + 42);
    if (end - at - kDirectoryBytes < name_bytes + extra_bytes + comment_bytes) {
      fail_at(at, "the zip directory's record must end within the directory, got one of ",
              kDirectoryBytes + name_bytes + extra_bytes + comment_bytes, " bytes");
    }
    entry.name = text(at + kDirectoryBytes, name_bytes);
    read_zip64_field(at, at + kDirectoryBytes + name_bytes, extra_bytes, entry.size, packed, header);
    if ((flags & (kFlagEncrypted | kFlagPatched)) != 0) {
      fail_at(at, "zip entries must be neither encrypted nor patched, got '", printable(entry.name), "' with flags ", flags);
    }
    if (method != kMethodStored && method != kMethodDeflated) {
      fail_at(at, "zip entries must be stored or deflated, got '", printable(entry.name), "' with method ", method);
    }
    entry.method = method == kMethodStored ? ZipMethod::kStored : ZipMethod::kDeflated;
    if (entry.method == ZipMethod::kStored && entry.size != packed) {
      fail_at(at, "a stored zip entry must have one size, got ", entry.size, " and ", packed, " for '", printable(entry.name),
              "'");
    }
    locate(entry, at, header, packed, directory);
    at += kDirectoryBytes + name_bytes + extra_bytes + comment_bytes;
    return entry;
  }

  // Fills in what the 32-bit fields say stands in the zip64 field.
  void read_zip64_field(std::uint64_t record, std::uint64_t at, std::size_t extra_bytes, std::uint64_t& size,
                        std::uint64_t& packed, std::uint64_t& header) const {
    if (size != kIn64 && packed != kIn64 && header != kIn64) {
      return;
    }
    const std::uint64_t extra_end = at + extra_bytes;
    constexpr std::uint64_t kFieldHead = 4;
    while (extra_end - at >= kFieldHead) {
      const auto id = get<std::uint16_t>(at);
      const std::uint64_t field_end = at + kFieldHead + get<std::uint16_t>(at + 2);
      at += kFieldHead;
      if (field_end > extra_end) {
        break;
      }
      if (id == kZip64Field) {
        for (std::uint64_t* const value : {&size, &packed, &header}) {
          if (*value == kIn64) {
            if (field_end - at < sizeof(std::uint64_t)) {
              fail_at(record, "the zip64 field of an entry must hold its sizes, got a field that is too short");
            }
            *value = get<std::uint64_t>(at);
            at += sizeof(std::uint64_t);
          }
        }
        return;
      }
      at = field_end;
    }
    fail_at(record, "an entry whose size does not fit 32 bits must have a zip64 field, got none");
  }

  // Finds the entry's bytes by its own header, whose name must be the directory's.
  void locate(ZipEntry& entry, std::uint64_t record, std::uint64_t header, std::uint64_t packed,
              std::uint64_t directory) const {
    if (header > directory || directory - header < kEntryBytes || get<std::uint32_t>(header) != kEntrySignature) {
      fail_at(record, "the zip directory must lead to the entry '", printable(entry.name), "' before it, got offset ", header);
    }
    const std::size_t name_bytes = get<std::uint16_t>(header + 26);
    entry.offset = header + kEntryBytes + name_bytes + get<std::uint16_t>(header + 28);
    if (entry.offset > directory || text(header + kEntryBytes, name_bytes) != entry.name) {
      fail_at(header, "a zip entry must have one name, got another one than '", printable(entry.name), "' of the directory");
    }
    if (packed > directory - entry.offset) {
      fail_at(header, "the entry '", printable(entry.name), "' announces ", packed, " bytes, the file has ",
              directory - entry.offset, " left before its directory");
    }
    entry.packed = file_.subspan(entry.offset, packed);
  }

  std::span<const std::byte> file_;
  const std::string& path_;
};

}  // namespace

std::vector<ZipEntry> read_zip(std::span<const std::byte> file, const std::string& path) {
  return ZipReader(file, path).read();
}

}  // namespace msprobe::read

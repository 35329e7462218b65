// SPDX-License-Identifier: Apache-2.0
// Unpacking by zlib.
#include "report/xlsx_parts.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"

namespace msprobe::report {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10U;
constexpr int kRawDeflate = -15;  // no zlib head, the largest window

class Inflater {
 public:
  Inflater() { good_ = inflateInit2(&stream_, kRawDeflate) == Z_OK; }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  [[nodiscard]] bool good() const { return good_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool good_ = false;
};

[[noreturn]] void fail_damaged(const read::ZipEntry& entry, const std::string& path) {
  fail("'", path, "', byte ", entry.offset, ": the part ", entry.name, " cannot be unpacked; the file is damaged");
}

// Counts and checks what is handed out.
class Checked {
 public:
  Checked(const read::ZipEntry& entry, const std::string& path, const std::function<void(std::string_view)>& take)
      : entry_(entry), path_(path), take_(take) {}

  void give(std::string_view piece) {
    size_ += piece.size();
    if (size_ > entry_.size) {
      fail_damaged(entry_, path_);
    }
    checksum_ = static_cast<std::uint32_t>(
        crc32(checksum_, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size())));
    take_(piece);
  }

  void end() const {
    if (size_ != entry_.size || checksum_ != entry_.checksum) {
      fail_damaged(entry_, path_);
    }
  }

 private:
  const read::ZipEntry& entry_;
  const std::string& path_;
  const std::function<void(std::string_view)>& take_;
  std::uint64_t size_ = 0;
  std::uint32_t checksum_ = 0;
};

void inflate_entry(const read::ZipEntry& entry, const std::string& path, Checked& out) {
  Inflater inflater;
  if (!inflater.good()) {
    fail("cannot unpack '", path, "': out of memory");
  }
  z_stream& stream = inflater.stream();
  std::vector<char> buffer(kPiece);
  std::span<const std::byte> rest = entry.packed;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      const std::size_t next = std::min(rest.size(), kPiece);
      // zlib does not write to its input; its interface is older than const.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest.data()));
      stream.avail_in = static_cast<uInt>(next);
      rest = rest.subspan(next);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) {  // Z_BUF_ERROR too: the input has ended and the stream has not
      fail_damaged(entry, path);
    }
    out.give({buffer.data(), buffer.size() - stream.avail_out});
  }
}

// The name of the outermost element: what stands behind the first '<' that neither '?' nor '!' follows.
std::string outermost_element(std::string_view head) {
  for (std::size_t start = head.find('<'); start != std::string_view::npos; start = head.find('<', start + 1)) {
    if (start + 1 < head.size() && head[start + 1] != '?' && head[start + 1] != '!') {
      const std::size_t end = head.find_first_of(" \t\r\n/>", start + 1);
      return end == std::string_view::npos ? std::string() : std::string(head.substr(start + 1, end - start - 1));
    }
  }
  return {};
}

bool ends_its_element(const read::ZipEntry& entry, const std::string& path) {
  constexpr std::size_t kKept = 1024;
  std::string head;
  std::string tail;
  unpack(entry, path, [&](std::string_view piece) {
    head += piece.substr(0, kKept - std::min(kKept, head.size()));
    tail = (tail + std::string(piece.substr(piece.size() - std::min(piece.size(), kKept))));
    tail.erase(0, tail.size() - std::min(tail.size(), kKept));
  });
  tail.erase(tail.find_last_not_of(" \t\r\n") + 1);
  const std::string element = outermost_element(head);
  return !element.empty() && (tail.ends_with("</" + element + ">") || (head.size() < kKept && tail.ends_with("/>")));
}

}  // namespace

void unpack(const read::ZipEntry& entry, const std::string& path, const std::function<void(std::string_view piece)>& take) {
  Checked out(entry, path, take);
  if (entry.method == read::ZipMethod::kDeflated) {
    inflate_entry(entry, path, out);
  } else {
    std::string_view rest(reinterpret_cast<const char*>(entry.packed.data()), entry.packed.size());
    for (; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kPiece))) {
      out.give(rest.substr(0, kPiece));
    }
  }
  out.end();
}

std::string first_cut_part(std::span<const std::byte> file, const std::string& path) {
  for (const read::ZipEntry& entry : read::read_zip(file, path)) {
    if (!ends_its_element(entry, path)) {
      return std::string(entry.name);
    }
  }
  return {};
}

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// The pickle that describes one tensor, and the zip archive around it and the data.
#include "dump/pt_frame.h"

#include <libdeflate.h>

#include <cassert>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace msprobe::dump {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();

void append_little_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  }
}

// --- pickle, protocol 2 -------------------------------------------------------------------------------------------------

class Pickle {
 public:
  Pickle() { text_ = "\x80\x02"; }

  void global(std::string_view module, std::string_view name) {
    text_ += 'c';
    text_.append(module).append("\n").append(name).append("\n");
  }
  void mark() { text_ += '('; }
  void tuple() { text_ += 't'; }
  void empty_tuple() { text_ += ')'; }
  void reduce() { text_ += 'R'; }
  void persistent_id() { text_ += 'Q'; }
  void no() { text_ += '\x89'; }
  void stop() { text_ += '.'; }

  void string(std::string_view value) {
    text_ += 'X';
    append_little_endian(text_, value.size(), 4);
    text_ += value;
  }

  void integer(std::int64_t value) {
    constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();
    if (value >= 0 && value <= kMaxInt) {
      text_ += 'J';
      append_little_endian(text_, static_cast<std::uint64_t>(value), 4);
    } else {
      text_ += "\x8a\x08";  // eight bytes, two's complement
      append_little_endian(text_, static_cast<std::uint64_t>(value), 8);
    }
  }

  void integers(const std::vector<std::int64_t>& values) {
    if (values.empty()) {
      empty_tuple();
      return;
    }
    mark();
    for (const std::int64_t value : values) {
      integer(value);
    }
    tuple();
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The class of a typed storage, or empty for types that came after those: they are saved as untyped storage and a dtype.
std::string_view storage_class(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "BoolStorage";
    case DType::kUInt8:
      return "ByteStorage";
    case DType::kInt8:
      return "CharStorage";
    case DType::kInt16:
      return "ShortStorage";
    case DType::kInt32:
      return "IntStorage";
    case DType::kInt64:
      return "LongStorage";
    case DType::kFloat16:
      return "HalfStorage";
    case DType::kBFloat16:
      return "BFloat16Storage";
    case DType::kFloat32:
      return "FloatStorage";
    case DType::kFloat64:
      return "DoubleStorage";
    case DType::kComplex64:
      return "ComplexFloatStorage";
    case DType::kComplex128:
      return "ComplexDoubleStorage";
    default:
      return {};
  }
}

std::vector<std::int64_t> contiguous_strides(std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return strides;
}

std::string pickle_tensor(DType dtype, std::span<const std::int64_t> sizes, std::size_t bytes) {
  const std::string_view typed = storage_class(dtype);
  Pickle pickle;
  pickle.global("torch._utils", typed.empty() ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  pickle.mark();
  pickle.mark();  // the storage, which lies in data/0
  pickle.string("storage");
  pickle.global(typed.empty() ? "torch.storage" : "torch", typed.empty() ? "UntypedStorage" : typed);
  pickle.string("0");
  pickle.string("cpu");
  pickle.integer(static_cast<std::int64_t>(typed.empty() ? bytes : bytes / dtype_size(dtype)));
  pickle.tuple();
  pickle.persistent_id();
  pickle.integer(0);  // offset
  pickle.integers({sizes.begin(), sizes.end()});
  pickle.integers(contiguous_strides(sizes));
  pickle.no();                                  // requires_grad
  pickle.global("collections", "OrderedDict");  // of backward hooks
  pickle.empty_tuple();
  pickle.reduce();
  if (typed.empty()) {
    constexpr std::string_view kPrefix = "torch.";
    pickle.global("torch", dtype_name(dtype).substr(kPrefix.size()));
  }
  pickle.tuple();
  pickle.reduce();
  pickle.stop();
  return pickle.text();
}

// --- zip ----------------------------------------------------------------------------------------------------------------

constexpr std::uint16_t kZip64Field = 0x0001;
constexpr std::uint16_t kPaddingField = 0x4246;  // "FB", what torch calls its padding
constexpr std::uint16_t kVersionPlain = 20;
constexpr std::uint16_t kVersionZip64 = 45;
constexpr std::uint16_t kFirstDayOf1980 = 0x21;

class Zip {
 public:
  // Adds an entry whose data is at hand.
  void add(std::string_view name, std::string_view data) {
    begin(name, data.size(), libdeflate_crc32(0, data.data(), data.size()), 1);
    out_ += data;
    position_ += data.size();
  }

  // Adds the head of an entry; its `size` bytes follow in the file, but not here.
  void add_outside(std::string_view name, std::uint64_t size, std::uint32_t checksum) {
    begin(name, size, checksum, kAlignment);
    position_ += size;
  }

  // What was written since the last call.
  std::string take() { return std::exchange(out_, {}); }

  void finish() {
    const std::uint64_t directory = position_;
    std::string entries;
    for (const Entry& entry : entries_) {
      append_directory_entry(entries, entry);
    }
    out_ += entries;
    position_ += entries.size();
    const std::uint64_t size = entries.size();
    const bool zip64 = directory > kMax32;
    if (zip64) {
      append_zip64_end(directory, size);
    }
    out_ += "PK\x05\x06";
    append_little_endian(out_, 0, 4);  // this disk, and the one with the directory
    append_little_endian(out_, entries_.size(), 2);
    append_little_endian(out_, entries_.size(), 2);
    append_little_endian(out_, size, 4);
    append_little_endian(out_, zip64 ? kMax32 : directory, 4);
    append_little_endian(out_, 0, 2);  // comment
  }

 private:
  struct Entry {
    std::string name;
    std::uint64_t size;
    std::uint32_t checksum;
    std::uint64_t offset;
  };

  void begin(std::string_view name, std::uint64_t size, std::uint32_t checksum, std::uint64_t alignment) {
    constexpr std::uint64_t kHeaderBytes = 30;
    entries_.push_back({std::string(name), size, checksum, position_});
    std::string extra;
    if (size > kMax32) {
      append_little_endian(extra, kZip64Field, 2);
      append_little_endian(extra, 16, 2);
      append_little_endian(extra, size, 8);
      append_little_endian(extra, size, 8);
    }
    if (alignment > 1) {
      const std::uint64_t unpadded = position_ + kHeaderBytes + name.size() + extra.size() + 4;
      const std::uint64_t padding = (alignment - unpadded % alignment) % alignment;
      append_little_endian(extra, kPaddingField, 2);
      append_little_endian(extra, padding, 2);
      extra.append(padding, 'Z');
    }
    out_ += "PK\x03\x04";
    append_common(out_, size, checksum, name.size(), extra.size());
    out_ += name;
    out_ += extra;
    position_ += kHeaderBytes + name.size() + extra.size();
  }

  // The fields that an entry's own header and the directory share.
  static void append_common(std::string& out, std::uint64_t size, std::uint32_t checksum, std::size_t name_bytes,
                            std::size_t extra_bytes) {
    append_little_endian(out, size > kMax32 ? kVersionZip64 : kVersionPlain, 2);
    append_little_endian(out, 0, 2);  // flags
    append_little_endian(out, 0, 2);  // stored
    append_little_endian(out, 0, 2);  // time
    append_little_endian(out, kFirstDayOf1980, 2);
    append_little_endian(out, checksum, 4);
    append_little_endian(out, size > kMax32 ? kMax32 : size, 4);
    append_little_endian(out, size > kMax32 ? kMax32 : size, 4);
    append_little_endian(out, name_bytes, 2);
    append_little_endian(out, extra_bytes, 2);
  }

  static void append_directory_entry(std::string& out, const Entry& entry) {
    std::string large;
    if (entry.size > kMax32) {
      append_little_endian(large, entry.size, 8);
      append_little_endian(large, entry.size, 8);
    }
    if (entry.offset > kMax32) {
      append_little_endian(large, entry.offset, 8);
    }
    std::string extra;
    if (!large.empty()) {
      append_little_endian(extra, kZip64Field, 2);
      append_little_endian(extra, large.size(), 2);
      extra += large;
    }
    out += "PK\x01\x02";
    append_little_endian(out, large.empty() ? kVersionPlain : kVersionZip64, 2);  // made by
    append_common(out, entry.size, entry.checksum, entry.name.size(), extra.size());
    append_little_endian(out, 0, 2);  // comment
    append_little_endian(out, 0, 2);  // disk
    append_little_endian(out, 0, 2);  // internal attributes
    append_little_endian(out, 0, 4);  // external attributes
    append_little_endian(out, entry.offset > kMax32 ? kMax32 : entry.offset, 4);
    out += entry.name;
    out += extra;
  }

  void append_zip64_end(std::uint64_t directory, std::uint64_t size) {
    constexpr std::uint64_t kRecordBytes = 44;  // after its own size field
    const std::uint64_t position = position_;
    out_ += "PK\x06\x06";
    append_little_endian(out_, kRecordBytes, 8);
    append_little_endian(out_, kVersionZip64, 2);
    append_little_endian(out_, kVersionZip64, 2);
    append_little_endian(out_, 0, 8);  // disks
    append_little_endian(out_, entries_.size(), 8);
    append_little_endian(out_, entries_.size(), 8);
    append_little_endian(out_, size, 8);
    append_little_endian(out_, directory, 8);
    out_ += "PK\x06\x07";
    append_little_endian(out_, 0, 4);
    append_little_endian(out_, position, 8);
    append_little_endian(out_, 1, 4);
  }

  std::string out_;
  std::uint64_t position_ = 0;  // in the file
  std::vector<Entry> entries_;
};

}  // namespace

PtFrame make_pt_frame(DType dtype, std::span<const std::int64_t> sizes, std::size_t bytes, std::uint32_t checksum) {
  assert(dtype != DType::kUnknown);
  Zip zip;
  zip.add("archive/data.pkl", pickle_tensor(dtype, sizes, bytes));
  zip.add("archive/byteorder", "little");
  zip.add("archive/version", "3\n");
  zip.add_outside("archive/data/0", bytes, checksum);
  PtFrame frame;
  frame.head = zip.take();
  zip.finish();
  frame.tail = zip.take();
  return frame;
}

PtFrame make_pt_frame(DType dtype, std::span<const std::int64_t> sizes, const void* data, std::size_t bytes) {
  return make_pt_frame(dtype, sizes, bytes, extend_checksum(0, {static_cast<const std::byte*>(data), bytes}));
}

std::uint32_t extend_checksum(std::uint32_t before, std::span<const std::byte> piece) {
  return piece.empty() ? before
                       : libdeflate_crc32(before, piece.data(), piece.size());  // libdeflate answers 0 to a null address
}

}  // namespace msprobe::dump

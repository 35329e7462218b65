// SPDX-License-Identifier: Apache-2.0
// Makes .pt files out of parts, right ones and hostile ones: pickles opcode by opcode, zip archives field by field.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/pt_frame.h"
#include "format/dtype.h"

namespace msprobe::read {

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int byte = 0; byte < bytes; ++byte) {
    text += static_cast<char>(byte < 8 ? (value >> (8 * byte)) & 0xFFU : 0);
  }
  return text;
}

// --- pickles: each function gives the bytes of one value on the stack --------------------------------------------------------

namespace pickle {

inline std::string text(std::string_view value) { return "X" + little_endian(value.size(), 4) + std::string(value); }
inline std::string integer(std::int64_t value) { return "\x8a\x08" + little_endian(static_cast<std::uint64_t>(value), 8); }
inline std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string tuple(const std::vector<std::string>& items) {
  std::string all = "(";
  for (const std::string& item : items) {
    all += item;
  }
  return all + "t";
}
inline std::string integers(const std::vector<std::int64_t>& values) {
  std::vector<std::string> items;
  for (const std::int64_t value : values) {
    items.push_back(integer(value));
  }
  return tuple(items);
}
inline std::string call(const std::string& function, const std::vector<std::string>& arguments) {
  return function + tuple(arguments) + "R";
}
inline std::string hooks() { return global("collections", "OrderedDict") + ")R"; }
inline const std::string kFalse = "\x89";

inline std::string storage(std::string_view type, std::int64_t count, std::string_view key = "0") {
  return tuple({text("storage"), global("torch", type), text(key), text("cpu"), integer(count)}) + "Q";
}

struct Tensor {
  std::string storage_value = storage("FloatStorage", 6);
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes = {2, 3};
  std::vector<std::int64_t> strides = {3, 1};

  [[nodiscard]] std::string value() const {
    return call(global("torch._utils", "_rebuild_tensor_v2"),
                {storage_value, integer(offset), integers(sizes), integers(strides), kFalse, hooks()});
  }
};

inline std::string whole(const std::string& value) { return "\x80\x02" + value + "."; }

}  // namespace pickle

// --- zip archives -----------------------------------------------------------------------------------------------------------

struct ZipPart {
  std::string name;
  std::string packed;
  std::uint64_t size = 0;  // announced, unpacked
  std::uint32_t checksum = 0;
  int method = 0;
  int flags = 0;
  std::string header_name = {};  // in the entry's own header, if it is another

  static ZipPart stored(std::string name, std::string data) {
    const std::uint64_t size = data.size();
    return {.name = std::move(name), .packed = std::move(data), .size = size};
  }
};

struct ZipShape {
  std::uint64_t prefix = 0;  // added to every offset
  std::function<void(std::string& directory)> change = [](std::string&) {};
  int entries = -1;  // announced, if not those that there are
};

inline std::string zip(const std::vector<ZipPart>& parts, const ZipShape& shape = {}) {
  std::string out;
  std::string directory;
  for (const ZipPart& part : parts) {
    const std::string common = little_endian(20, 2) + little_endian(static_cast<std::uint64_t>(part.flags), 2) +
                               little_endian(static_cast<std::uint64_t>(part.method), 2) + little_endian(0, 4) +
                               little_endian(part.checksum, 4) + little_endian(part.packed.size(), 4) +
                               little_endian(part.size, 4);
    directory += "PK\x01\x02" + little_endian(20, 2) + common + little_endian(part.name.size(), 2) + little_endian(0, 12) +
                 little_endian(out.size() + shape.prefix, 4) + part.name;
    const std::string& name = part.header_name.empty() ? part.name : part.header_name;
    out += "PK\x03\x04" + common + little_endian(name.size(), 2) + little_endian(0, 2) + name + part.packed;
  }
  shape.change(directory);
  const std::uint64_t offset = out.size();
  const auto entries = static_cast<std::uint64_t>(shape.entries >= 0 ? shape.entries : static_cast<int>(parts.size()));
  out += directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(entries, 2) + little_endian(entries, 2);
  return out + little_endian(directory.size(), 4) + little_endian(offset, 4) + little_endian(0, 2);
}

// The entries of a file with one float32 tensor of 2 by 3.
inline std::vector<ZipPart> tensor_parts(const std::string& value = pickle::Tensor{}.value()) {
  return {ZipPart::stored("x/data.pkl", pickle::whole(value)), ZipPart::stored("x/byteorder", "little"),
          ZipPart::stored("x/data/0", std::string(24, '\0'))};
}

// --- files ------------------------------------------------------------------------------------------------------------------

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "msprobe_pt_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  // As acl_save writes it.
  template <class Number>
  [[nodiscard]] std::string write_tensor(const std::string& name, DType dtype, const std::vector<std::int64_t>& sizes,
                                         std::span<const Number> numbers) const {
    const dump::PtFrame frame = dump::make_pt_frame(dtype, sizes, numbers.data(), numbers.size_bytes());
    const std::string_view data(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    return write(name, frame.head + std::string(data) + frame.tail);
  }

 private:
  std::string path_;
};

}  // namespace msprobe::read

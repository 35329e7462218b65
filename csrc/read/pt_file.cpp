// SPDX-License-Identifier: Apache-2.0
// Puts archive, pickle and storage together, and checks that every element lies where the file says.
#include "read/pt_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.h"
#include "read/printable.h"
#include "read/pt_memory.h"
#include "read/pt_pickle.h"
#include "read/pt_zip.h"

namespace msprobe::read {
namespace {

// A tensor's pickle takes some 200 bytes, a parameter's with attributes little more; whole models take megabytes.
constexpr std::size_t kLongestPickle = std::size_t{256} << 10U;
constexpr std::size_t kLongestMark = 64;  // "little", "big"
// Elements that lie on top of each other (an expanded tensor) cost a file nothing to announce, but a reader time: some minutes for this.
constexpr std::int64_t kMostRepeats = std::int64_t{1} << 36U;

constexpr std::string_view kPickleName = "/data.pkl";
constexpr std::string_view kByteOrderName = "/byteorder";
constexpr std::string_view kScriptName = "/constants.pkl";

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin(),
                                                   [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
}

}  // namespace

class PtReader {
 public:
  PtReader(const FileDescriptor& file, const std::string& path) : path_(path), memory_(MappedMemory::map_file(file, path)) {}

  PtTensor read() {
    check_magic();
    entries_ = read_zip(memory_->bytes(), path_);
    const ZipEntry& pickle = find_pickle();
    archive_ = pickle.name.substr(0, pickle.name.size() - kPickleName.size());
    std::string unpacked;
    PickledTensor pickled = read_pickled_tensor(text_of(pickle, unpacked, kLongestPickle), source_of(pickle));

    PtTensor tensor;
    tensor.path_ = path_;
    tensor.description_.dtype = pickled.dtype;
    tensor.description_.requires_grad = pickled.requires_grad;
    tensor.description_.conjugated = pickled.conjugated;
    tensor.description_.negated = pickled.negated;
    tensor.description_.big_endian = is_big_endian();
    tensor.description_.location = std::move(pickled.location);
    const std::int64_t last = check_extent(pickled, tensor.elements_);
    tensor.description_.sizes = std::move(pickled.sizes);
    tensor.description_.strides = std::move(pickled.strides);
    const ZipEntry& storage = find_storage(pickled);
    check_size(storage, pickled, tensor.elements_, last);
    if (tensor.elements_ > 0) {
      std::span<const std::byte> bytes = storage.packed;
      if (storage.method == ZipMethod::kDeflated) {
        memory_ = MappedMemory::inflate(storage, path_);
        bytes = memory_->bytes();
      }
      tensor.data_ = bytes.data() + pickled.offset * static_cast<std::int64_t>(dtype_size(pickled.dtype));
      tensor.memory_ = std::move(memory_);
    }
    return tensor;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail_at(std::uint64_t offset, const Parts&... parts) const {
    fail("'", path_, "', byte ", offset, ": ", parts...);
  }

  void check_magic() const {
    const std::span<const std::byte> file = memory_->bytes();
    if (file.empty()) {
      fail_at(0, "the file must be one of torch.save, got an empty file");
    }
    if (begins_with(file, "PK\x03\x04")) {
      return;
    }
    // The pickled magic number 0x1950a86a20f9469cfc6c.
    if (begins_with(file, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")) {
      fail_at(0,
              "the file has torch.save's format from before torch 1.6, which is not read; write it again with "
              "torch.save(torch.load(path, weights_only=True), path)");
    }
    fail_at(0, "the file must be a zip archive of torch.save, got something else");
  }

  [[nodiscard]] const ZipEntry& find_pickle() const {
    const ZipEntry* found = nullptr;
    for (const ZipEntry& entry : entries_) {
      if (entry.name.ends_with(kScriptName)) {
        fail_at(entry.offset, "the file must hold one tensor of torch.save, got a TorchScript program");
      }
      // {archive}/data.pkl, the archive's name being one folder
      if (entry.name.ends_with(kPickleName) && entry.name.find('/') == entry.name.size() - kPickleName.size()) {
        if (found != nullptr) {
          fail_at(entry.offset, "the file must hold one archive of torch.save, got a second, '", printable(entry.name), "'");
        }
        found = &entry;
      }
    }
    if (found == nullptr) {
      fail("'", path_, "': the zip archive must have an entry {name}/data.pkl, got none; it is no file of torch.save");
    }
    return *found;
  }

  [[nodiscard]] const ZipEntry* find(const std::string& name) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&name](const ZipEntry& entry) { return entry.name == name; });
    return found == entries_.end() ? nullptr : &*found;
  }

  // The bytes of a short entry; `unpacked` holds them if they do not lie in the file.
  std::span<const std::byte> text_of(const ZipEntry& entry, std::string& unpacked, std::size_t limit) const {
    if (entry.size > limit) {
      fail_at(entry.offset, "the entry '", printable(entry.name), "' of one saved tensor must have at most ", limit,
              " bytes, got ", entry.size, "; save one tensor a file");
    }
    if (entry.method == ZipMethod::kStored) {
      return entry.packed;
    }
    unpacked = inflate_text(entry, path_, limit);
    return std::as_bytes(std::span(unpacked));
  }

  [[nodiscard]] PickleSource source_of(const ZipEntry& pickle) const {
    if (pickle.method == ZipMethod::kStored) {
      return {"'" + path_ + "'", pickle.offset};
    }
    return {"'" + path_ + "', unpacked data.pkl", 0};
  }

  [[nodiscard]] bool is_big_endian() const {
    const ZipEntry* const entry = find(std::string(archive_) + std::string(kByteOrderName));
    if (entry == nullptr) {
      return false;  // files from before torch 2.0; torch takes them for little-endian too
    }
    std::string unpacked;
    const std::span<const std::byte> mark = text_of(*entry, unpacked, kLongestMark);
    const std::string_view order(reinterpret_cast<const char*>(mark.data()), mark.size());
    if (order != "little" && order != "big") {
      fail_at(entry->offset, "the byte order must be little or big, got '", printable(order), "'");
    }
    return order == "big";
  }

  // The number of elements, and the last one's place in the storage, in elements; -1 if there is none.
  std::int64_t check_extent(const PickledTensor& tensor, std::int64_t& elements) const {
    std::int64_t last = tensor.offset;
    bool fits = true;
    elements = 1;
    const bool empty = std::find(tensor.sizes.begin(), tensor.sizes.end(), 0) != tensor.sizes.end();
    for (std::size_t dim = 0; dim < tensor.sizes.size() && !empty; ++dim) {
      std::int64_t way = 0;
      fits = fits && !__builtin_mul_overflow(elements, tensor.sizes[dim], &elements);
      fits = fits && !__builtin_mul_overflow(tensor.sizes[dim] - 1, tensor.strides[dim], &way);
      fits = fits && !__builtin_add_overflow(last, way, &last);
    }
    if (!fits) {
      fail("'", path_,
           "': a tensor's number of elements and the places of all of them must fit 63 bits, got sizes and strides beyond");
    }
    elements = empty ? 0 : elements;
    return empty ? -1 : last;
  }

  [[nodiscard]] const ZipEntry& find_storage(const PickledTensor& tensor) const {
    const std::string name = std::string(archive_) + "/data/" + tensor.storage_key;
    const ZipEntry* const entry = find(name);
    if (entry == nullptr) {
      fail("'", path_, "': the tensor's values must lie in the entry '", printable(name), "', got no such entry");
    }
    return *entry;
  }

  void check_size(const ZipEntry& storage, const PickledTensor& tensor, std::int64_t elements, std::int64_t last) const {
    std::int64_t announced = 0;
    if (__builtin_mul_overflow(tensor.storage_count, tensor.storage_item_bytes, &announced) ||
        static_cast<std::uint64_t>(announced) != storage.size) {
      fail_at(storage.offset, "the storage has ", tensor.storage_count, " items of ", tensor.storage_item_bytes,
              " bytes, its entry must have as many, got ", storage.size, " bytes");
    }
    const auto capacity = announced / static_cast<std::int64_t>(dtype_size(tensor.dtype));
    if (last >= capacity) {
      fail_at(storage.offset, "the tensor's last element is number ", last, " of its storage, which has ", capacity);
    }
    if (elements > capacity && elements > kMostRepeats) {
      fail_at(storage.offset, "a tensor whose elements share memory must have at most ", kMostRepeats, " of them, got ",
              elements);
    }
  }

  const std::string& path_;
  std::shared_ptr<MappedMemory> memory_;
  std::vector<ZipEntry> entries_;
  std::string_view archive_;
};

void PtTensor::release(std::size_t bytes_read) const noexcept {
  if (memory_) {
    memory_->release(bytes_read);
  }
}

PtTensor read_pt(const std::string& path) { return read_pt(open_regular(path), path); }

PtTensor read_pt(FileDescriptor file, const std::string& path) { return PtReader(file, path).read(); }

}  // namespace msprobe::read

// SPDX-License-Identifier: Apache-2.0
// A tensor in a .pt file of torch.save: what it is, and where its elements lie. No code in a file is ever run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/dtype.h"
#include "read/open_inside.h"

namespace msprobe::read {

class MappedMemory;

// What the file says of its tensor.
struct PtDescription {
  DType dtype = DType::kUnknown;
  std::vector<std::int64_t> sizes;    // empty: 0-dim, one element
  std::vector<std::int64_t> strides;  // in elements, never negative; 0 where expanded
  bool requires_grad = false;
  bool conjugated = false;  // the imaginary parts in memory have the other sign
  bool negated = false;     // the values in memory have the other sign
  bool big_endian = false;  // the bytes of each number are in the other order
  std::string location;     // where the tensor lived: "cpu", "npu:0", "cuda:3"
};

// Keeps the elements readable while it lives: in the mapped file itself, or, of a compressed file, in memory or an unlinked temporary
// file. May be read by many threads. A file that is made shorter while it is read ends the process (SIGBUS), as with any mapped file.
class PtTensor {
 public:
  [[nodiscard]] DType dtype() const noexcept { return description_.dtype; }
  [[nodiscard]] std::span<const std::int64_t> sizes() const noexcept { return description_.sizes; }
  [[nodiscard]] std::span<const std::int64_t> strides() const noexcept { return description_.strides; }
  [[nodiscard]] const PtDescription& description() const noexcept { return description_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  // Elements as torch counts them (a packed fp4 byte is one); fits 63 bits.
  [[nodiscard]] std::int64_t elements() const noexcept { return elements_; }
  // Element 0, 0, …, of any alignment; every element that sizes and strides name lies in the storage. Null if there is none.
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }

  // Tells how much was read since the last call. Pages that were read go back to the system from time to time, so that a process does
  // not grow with its tensors; they are read again when they are used again.
  void release(std::size_t bytes_read) const noexcept;

 private:
  friend class PtReader;

  PtDescription description_;
  std::string path_;
  std::int64_t elements_ = 0;
  const std::byte* data_ = nullptr;
  std::shared_ptr<MappedMemory> memory_;
};

// Throws Error, with the file's name and the byte, for whatever is no zip archive of torch.save that holds exactly one dense tensor of
// numbers. Memory is bounded whatever the file announces: a description takes at most some MB, data is not copied.
PtTensor read_pt(const std::string& path);

// The same for a file that is open already (open_inside); `path` is for messages.
PtTensor read_pt(FileDescriptor file, const std::string& path);

}  // namespace msprobe::read

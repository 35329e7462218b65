// SPDX-License-Identifier: Apache-2.0
// The bytes around a tensor's data in a .pt file, as torch.save lays them out: a zip archive, nothing compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "format/dtype.h"

namespace msprobe::dump {

// A file is head, data, tail. The data begins at a multiple of 64 bytes, so that torch.load(mmap=True) can use it in place.
struct PtFrame {
  std::string head;
  std::string tail;
};

// For a contiguous tensor of `bytes` bytes whose CRC-32 is `checksum`. dtype must not be kUnknown. Files above 4 GiB are zip64. The head's
// length does not depend on the checksum. Any torch from 2.1 on reads such files, with weights_only=True too; dtypes that a torch
// lacks are the only exception.
PtFrame make_pt_frame(DType dtype, std::span<const std::int64_t> sizes, std::size_t bytes, std::uint32_t checksum);

// The same for data in host memory, which is read once.
PtFrame make_pt_frame(DType dtype, std::span<const std::int64_t> sizes, const void* data, std::size_t bytes);

// The CRC-32 of a piece that follows one whose CRC-32 is `before`; 0 for none.
std::uint32_t extend_checksum(std::uint32_t before, std::span<const std::byte> piece);

}  // namespace msprobe::dump

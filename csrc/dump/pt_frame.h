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

// For a contiguous tensor in host memory; `data` is read once, for its checksum. dtype must not be kUnknown. Files above 4 GiB are
// zip64. Any torch from 2.1 on reads it, with weights_only=True too; dtypes that a torch lacks are the only exception.
PtFrame make_pt_frame(DType dtype, std::span<const std::int64_t> sizes, const void* data, std::size_t bytes);

}  // namespace msprobe::dump

// SPDX-License-Identifier: Apache-2.0
// The directory of a zip archive in memory: which entries there are and where their bytes lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::read {

enum class ZipMethod : std::uint8_t { kStored, kDeflated };

struct ZipEntry {
  std::string_view name;  // in the archive's bytes
  ZipMethod method = ZipMethod::kStored;
  std::uint32_t checksum = 0;         // CRC-32 of the unpacked bytes
  std::span<const std::byte> packed;  // as they lie in the file; for a stored entry these are the bytes themselves
  std::uint64_t size = 0;             // unpacked, as announced
  std::uint64_t offset = 0;           // of `packed` in the file
};

// Reads directory and headers, zip64 and entries with data descriptors included; copies no data. `path` is for messages. Throws Error,
// with the byte, for an archive that is cut off, contradicts itself, or uses what torch.save never does (encryption, several disks,
// other methods). An entry that this returns lies in the file as a whole.
std::vector<ZipEntry> read_zip(std::span<const std::byte> file, const std::string& path);

}  // namespace msprobe::read

// SPDX-License-Identifier: Apache-2.0
// CRC-32 by zlib.
#include "read/checksum.h"

#include <zlib.h>

#include <cstdint>

namespace msprobe::read {

std::string crc32_hex(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr int kDigits = 8;
  auto value = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
  std::string digits(kDigits, '0');
  for (int i = kDigits - 1; i >= 0; --i, value >>= 4U) {
    digits[static_cast<std::size_t>(i)] = kHex[value & 0xFU];
  }
  return digits;
}

}  // namespace msprobe::read

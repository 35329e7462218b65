// SPDX-License-Identifier: Apache-2.0
// CRC-32 of a text, as dumps of checksums have it.
#pragma once

#include <string>
#include <string_view>

namespace msprobe::read {

std::string crc32_hex(std::string_view text);  // eight lower-case digits

}  // namespace msprobe::read

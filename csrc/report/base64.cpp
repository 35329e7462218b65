// SPDX-License-Identifier: Apache-2.0
// Three bytes are four characters; a rest is filled up with '='.
#include "report/base64.h"

#include <cstddef>
#include <cstdint>

namespace msprobe::report {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kGroup = 3;
constexpr std::size_t kCharacters = 4;
constexpr unsigned kBits = 6;
constexpr std::uint32_t kMask = (1U << kBits) - 1;

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  out.reserve(out.size() + (bytes.size() / kGroup + 1) * kCharacters);
  for (std::size_t start = 0; start < bytes.size(); start += kGroup) {
    const std::string_view group = bytes.substr(start, kGroup);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < kGroup; ++i) {
      value = (value << 8U) | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < kCharacters; ++i) {
      const std::uint32_t character = (value >> (kBits * (kCharacters - 1 - i))) & kMask;
      out += i <= group.size() ? kAlphabet[character] : '=';
    }
  }
}

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// Compresses bytes with DEFLATE, in the two wrappings that readers ask for.
#pragma once

#include <string>
#include <string_view>

namespace msprobe::report {

std::string compressed_gzip(std::string_view bytes);  // RFC 1952
std::string compressed_zlib(std::string_view bytes);  // RFC 1950

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// Bytes as text: base64 of RFC 4648.
#pragma once

#include <string>
#include <string_view>

namespace msprobe::report {

void append_base64(std::string& out, std::string_view bytes);

}  // namespace msprobe::report

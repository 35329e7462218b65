// SPDX-License-Identifier: Apache-2.0
// The parts of an .xlsx file, which is a zip archive of XML: unpacked piece by piece, never as a whole.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "read/pt_zip.h"

namespace msprobe::report {

// Hands out the unpacked bytes of an entry in order. `path` is for messages; Error if they are damaged.
void unpack(const read::ZipEntry& entry, const std::string& path, const std::function<void(std::string_view piece)>& take);

// The name of the first part that does not end with the end of its outermost element; "" if all do.
std::string first_cut_part(std::span<const std::byte> file, const std::string& path);

}  // namespace msprobe::report

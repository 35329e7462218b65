// SPDX-License-Identifier: Apache-2.0
// What --help prints.
#pragma once

#include <string_view>

namespace msprobe::cli {

std::string_view program_help();
std::string_view compare_help();
std::string_view view_help();
std::string_view merge_help();

}  // namespace msprobe::cli

// SPDX-License-Identifier: Apache-2.0
// Text as Python prints it: what tables of comparisons show, and what checksums of values are taken of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprobe::read {

// repr(float): the shortest text that reads back to the same value; an exponent below 1e-4 and from 1e16 on; "nan", "inf", "-inf".
void append_python_float(std::string& out, double value);
void append_python_int(std::string& out, std::int64_t value);
void append_python_int(std::string& out, std::uint64_t value);

// repr(str), for texts inside lists and mappings. Bytes beyond ASCII stand as they are.
void append_python_string(std::string& out, std::string_view text);

}  // namespace msprobe::read

// SPDX-License-Identifier: Apache-2.0
// One statistic on both sides: what kind of value each is, and what stands in the columns of differences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "read/dump_model.h"

namespace msprobe::compare {

enum class ValueClass : std::uint8_t {
  kNumber,  // finite; a text that reads as a number is one
  kNan,
  kPosInf,
  kNegInf,
  kDevice,        // a text that names one: npu, cpu, cuda
  kNotAvailable,  // N/A
  kOther,         // None, True, False, other texts
};

__extension__ using Wide = __int128;  // holds every int64 and uint64, and their differences

struct Value {
  ValueClass value_class = ValueClass::kOther;
  bool exact = false;  // `integer` counts
  Wide integer = 0;
  double real = 0;  // of any number, NaN and infinity
};

Value classify(const read::Number& number);

enum class DifferenceKind : std::uint8_t {
  kEqual,         // 0
  kNumbers,       // `difference`, `percent`
  kNotFinite,     // both columns show `difference`, which is NaN or infinite
  kOther,         // Diff
  kNotAvailable,  // N/A
};

struct Difference {
  DifferenceKind kind = DifferenceKind::kNotAvailable;
  double difference = 0;  // target - golden
  double percent = 0;     // |difference / golden| * 100; of kNumbers with golden_zero it is infinite
  bool golden_zero = false;
};

Difference difference(const read::Number& target, const read::Number& golden);

// Cells. A not-finite number of a dump stands as " inf", " -inf" or "Nan", None as "None".
void append_statistic(std::string& out, const read::Number& number);
void append_difference(std::string& out, const Difference& difference);
void append_relative(std::string& out, const Difference& difference);

// As it is told in messages: "NaN", "+Inf", "-Inf", "null", or the number.
void append_told(std::string& out, const read::Number& number);

}  // namespace msprobe::compare

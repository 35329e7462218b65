// SPDX-License-Identifier: Apache-2.0
// The table of value classes, and double arithmetic in the order that gives the same bits as the original tool's.
#include "compare/values.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "read/python_text.h"

namespace msprobe::compare {
namespace {

using read::Number;
using read::NumberKind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kNotAvailableText = "N/A";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equals_lower(std::string_view text, std::string_view lower_text) {
  if (text.size() != lower_text.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_text[i]) {
      return false;
    }
  }
  return true;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Value of_real(double real) {
  Value value;
  value.real = real;
  if (std::isnan(real)) {
    value.value_class = ValueClass::kNan;
  } else if (std::isinf(real)) {
    value.value_class = real > 0 ? ValueClass::kPosInf : ValueClass::kNegInf;
  } else {
    value.value_class = ValueClass::kNumber;
  }
  return value;
}

Value of_text(std::string_view text) {
  Value value;
  if (text == kNotAvailableText) {
    value.value_class = ValueClass::kNotAvailable;
    return value;
  }
  std::string_view word = text;
  while (!word.empty() && is_space(word.front())) {
    word.remove_prefix(1);
  }
  while (!word.empty() && is_space(word.back())) {
    word.remove_suffix(1);
  }
  const bool minus = word.starts_with('-');
  if (minus || word.starts_with('+')) {
    word.remove_prefix(1);
  }
  if (equals_lower(word, "nan")) {
    return of_real(kNan);
  }
  if (equals_lower(word, "inf") || equals_lower(word, "infinity")) {
    return of_real(minus ? -kInfinity : kInfinity);
  }
  if (!word.empty() && (word.front() == '.' || (word.front() >= '0' && word.front() <= '9'))) {
    double real = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), real);
    if (read.ptr == word.data() + word.size()) {
      if (read.ec == std::errc::result_out_of_range) {
        real = std::strtod(std::string(word).c_str(), nullptr);
      }
      return of_real(minus ? -real : real);
    }
  }
  const auto names = [&](std::string_view device) { return text.find(device) != std::string_view::npos; };
  value.value_class = names("npu") || names("cpu") || names("cuda") ? ValueClass::kDevice : ValueClass::kOther;
  return value;
}

bool same_other(const Number& target, const Number& golden) {
  const auto is_none = [](const Number& number) {
    return number.kind == NumberKind::kNull || number.kind == NumberKind::kAbsent;
  };
  if (target.kind == NumberKind::kText && golden.kind == NumberKind::kText) {
    return target.text == golden.text;
  }
  return target.kind == golden.kind || (is_none(target) && is_none(golden));
}

bool same_number(const Value& target, const Value& golden) {
  return target.exact && golden.exact ? target.integer == golden.integer : target.real == golden.real;
}

Difference of_numbers(const Value& target, const Value& golden) {
  Difference result;
  result.kind = DifferenceKind::kNumbers;
  // Whole numbers are subtracted exactly: above 2^53 their doubles may be equal where they are not.
  result.difference =
      target.exact && golden.exact ? static_cast<double>(target.integer - golden.integer) : target.real - golden.real;
  result.golden_zero = golden.real == 0;
  result.percent = result.golden_zero ? kInfinity : std::abs(result.difference / golden.real * 100);
  return result;
}

}  // namespace

Value classify(const Number& number) {
  Value value;
  switch (number.kind) {
    case NumberKind::kInteger:
      value = of_real(static_cast<double>(number.integer));
      value.exact = true;
      value.integer = number.integer;
      return value;
    case NumberKind::kUnsigned:
      value = of_real(static_cast<double>(number.natural));
      value.exact = true;
      value.integer = number.natural;
      return value;
    case NumberKind::kReal:
      return of_real(number.real);
    case NumberKind::kText:
      return of_text(number.text);
    default:
      return value;
  }
}

Difference difference(const Number& target, const Number& golden) {
  const Value left = classify(target);
  const Value right = classify(golden);
  const ValueClass a = left.value_class;
  const ValueClass b = right.value_class;
  if (a == ValueClass::kNumber && b == ValueClass::kNumber) {
    return same_number(left, right) ? Difference{DifferenceKind::kEqual} : of_numbers(left, right);
  }
  if (a == ValueClass::kNotAvailable || b == ValueClass::kNotAvailable) {
    return {a == b ? DifferenceKind::kEqual : DifferenceKind::kNotAvailable};
  }
  if (a == ValueClass::kDevice && b == ValueClass::kDevice) {
    return {target.text == golden.text ? DifferenceKind::kEqual : DifferenceKind::kNotAvailable};
  }
  if (a == ValueClass::kOther && b == ValueClass::kOther) {
    return {same_other(target, golden) ? DifferenceKind::kEqual : DifferenceKind::kOther};
  }
  if (a == ValueClass::kDevice || b == ValueClass::kDevice || a == ValueClass::kOther || b == ValueClass::kOther) {
    return {DifferenceKind::kOther};
  }
  if (a == b) {
    return {DifferenceKind::kEqual};  // NaN and NaN, or the same infinity
  }
  Difference result{DifferenceKind::kNotFinite};
  if (a == ValueClass::kNan || b == ValueClass::kNan) {
    result.difference = kNan;
  } else if (a == ValueClass::kPosInf || b == ValueClass::kNegInf) {
    result.difference = kInfinity;
  } else {
    result.difference = -kInfinity;
  }
  return result;
}

void append_statistic(std::string& out, const Number& number) {
  switch (number.kind) {
    case NumberKind::kInteger:
      read::append_python_int(out, number.integer);
      return;
    case NumberKind::kUnsigned:
      read::append_python_int(out, number.natural);
      return;
    case NumberKind::kReal:
      if (std::isnan(number.real)) {
        out += "Nan";
      } else if (std::isinf(number.real)) {
        out += number.real > 0 ? " inf" : " -inf";
      } else {
        read::append_python_float(out, number.real);
      }
      return;
    case NumberKind::kFalse:
      out += "False";
      return;
    case NumberKind::kTrue:
      out += "True";
      return;
    case NumberKind::kText:
      if (equals_lower(number.text, "nan")) {
        out += "Nan";
      } else {
        out += number.text;
      }
      return;
    default:
      out += "None";
  }
}

namespace {

void append_not_numbers(std::string& out, const Difference& difference, bool relative) {
  switch (difference.kind) {
    case DifferenceKind::kEqual:
      out += '0';
      return;
    case DifferenceKind::kNotFinite:
      if (std::isnan(difference.difference)) {
        out += "Nan";
      } else {
        out += difference.difference > 0 || relative ? "inf" : "-inf";  // a relative error has no sign
      }
      return;
    case DifferenceKind::kOther:
      out += "Diff";
      return;
    default:
      out += kNotAvailableText;
  }
}

}  // namespace

void append_difference(std::string& out, const Difference& difference) {
  if (difference.kind == DifferenceKind::kNumbers) {
    read::append_python_float(out, difference.difference);
  } else {
    append_not_numbers(out, difference, false);
  }
}

void append_relative(std::string& out, const Difference& difference) {
  if (difference.kind != DifferenceKind::kNumbers) {
    append_not_numbers(out, difference, true);
  } else if (difference.golden_zero) {
    out += "inf";
  } else {
    read::append_python_float(out, difference.percent);
    out += '%';
  }
}

void append_told(std::string& out, const Number& number) {
  const Value value = classify(number);
  switch (value.value_class) {
    case ValueClass::kNan:
      out += "NaN";
      return;
    case ValueClass::kPosInf:
      out += "+Inf";
      return;
    case ValueClass::kNegInf:
      out += "-Inf";
      return;
    default:
      break;
  }
  if (number.kind == NumberKind::kNull) {
    out += "null";
  } else if (number.kind == NumberKind::kAbsent) {
    out += "missing";
  } else if (number.kind == NumberKind::kText) {
    out += '\'';
    out += number.text;
    out += '\'';
  } else {
    append_statistic(out, number);
  }
}

}  // namespace msprobe::compare

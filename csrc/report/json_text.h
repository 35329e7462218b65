// SPDX-License-Identifier: Apache-2.0
// Builds JSON member by member: keeps the commas right.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/json.h"

namespace msprobe::report {

// Members and elements with their commas.
class JsonText {
 public:
  void key(std::string_view name) {
    comma();
    dump::append_json_string(out_, name);
    out_ += ": ";
    first_ = true;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  void text(std::string_view value) {
    comma();
    dump::append_json_string(out_, value);
  }
  void integer(std::int64_t value) {
    comma();
    dump::append_json_number(out_, value);
  }
  void integer(std::optional<std::int64_t> value) {
    if (value) {
      integer(*value);
    } else {
      comma();
      out_ += "null";
    }
  }
  void real(double value) {  // what JSON has no number for is its name
    comma();
    if (std::isfinite(value)) {
      dump::append_json_number(out_, value);
    } else {
      out_ += std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
    }
  }
  void texts(const std::vector<std::string>& values) {
    open('[');
    for (const std::string& value : values) {
      text(value);
    }
    close(']');
  }
  void raw(std::string_view value) {  // JSON already
    comma();
    out_ += value;
  }
  std::string take() { return std::move(out_); }

 private:
  void comma() {
    out_ += first_ ? "" : ", ";
    first_ = false;
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace msprobe::report

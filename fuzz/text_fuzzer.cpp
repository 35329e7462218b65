// SPDX-License-Identifier: Apache-2.0
// Any bytes as a name and as a tag: the JSON written must be read back by a parser that is not ours, and a tag is read or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "dump/json.h"
#include "log/tag.h"

namespace {

void require(bool holds, const char* what) {
  if (!holds) {
    std::cerr << "text_fuzzer: " << what << '\n';
    std::abort();
  }
}

void check_string(std::string_view bytes) {
  std::string written;
  msprobe::dump::append_json_string(written, bytes);
  const auto parsed = nlohmann::json::parse(written, nullptr, false);
  require(parsed.is_string(), "a string was written that is no JSON string");
  const auto& text = parsed.get_ref<const std::string&>();
  std::string again;
  msprobe::dump::append_json_string(again, text);
  require(again == written, "text that was read back is written differently");
}

void check_number(std::string_view bytes) {
  double value = 0;
  if (!bytes.empty()) {
    std::memcpy(&value, bytes.data(), bytes.size() < sizeof value ? bytes.size() : sizeof value);
  }
  if (value - value != 0) {
    return;  // not finite: never written as a number
  }
  std::string written;
  msprobe::dump::append_json_number(written, value);
  const auto parsed = nlohmann::json::parse(written, nullptr, false);
  require(parsed.is_number_float(), "a number was written that is no JSON float");
  require(parsed.get<double>() == value, "a number came back as another");
}

void check_tag(std::string_view bytes) {
  try {
    const msprobe::log::Tag tag = msprobe::log::parse_tag(bytes);
    require(!tag.name.empty() && !tag.path.empty(), "a tag without name or path was taken");
  } catch (const msprobe::Error& error) {
    require(*error.what() != '\0', "a tag was refused without a reason");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT(readability-identifier-naming)
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_string(bytes);
  check_number(bytes);
  check_tag(bytes);
  check_tag("m|" + std::string(bytes) + "|args|#0|^");
  check_tag("m|Module.x|args|" + std::string(bytes) + "|$");
  return 0;
}

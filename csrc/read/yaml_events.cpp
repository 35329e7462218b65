// SPDX-License-Identifier: Apache-2.0
// libyaml with our errors.
#include "read/yaml_events.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "read/open_inside.h"

namespace msprobe::read {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 26U;
constexpr std::string_view kSuffix = ".yaml";

}  // namespace

YamlEvents::YamlEvents(std::string_view text, const std::string& name) : name_(name) {
  if (yaml_parser_initialize(&parser_) == 0) {
    fail("'", name_, "' cannot be read: no memory.");
  }
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.empty() ? "" : text.data()), text.size());
}

YamlEvents::~YamlEvents() {
  yaml_event_delete(&event_);
  yaml_parser_delete(&parser_);
}

yaml_event_type_t YamlEvents::next() {
  yaml_event_delete(&event_);
  if (yaml_parser_parse(&parser_, &event_) == 0) {
    const std::string_view problem = parser_.problem == nullptr ? "it is broken" : parser_.problem;
    const bool has_mark = parser_.error != YAML_READER_ERROR;
    if (has_mark) {
      fail("'", name_, "' is broken YAML at line ", parser_.problem_mark.line + 1, ", column ", parser_.problem_mark.column + 1,
           ": ", problem, ".");
    }
    fail("'", name_, "' is broken YAML at byte ", parser_.problem_offset, ": ", problem, ".");
  }
  return event_.type;
}

std::string YamlEvents::scalar() const {
  return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
}

std::string_view yaml_kind(yaml_event_type_t type) {
  switch (type) {
    case YAML_SEQUENCE_START_EVENT:
      return "a list";
    case YAML_MAPPING_START_EVENT:
      return "a mapping";
    case YAML_ALIAS_EVENT:
      return "an alias";
    case YAML_SCALAR_EVENT:
      return "a text";
    default:
      return "nothing";
  }
}

std::string read_yaml_text(const std::string& path, std::string_view what) {
  if (!path.ends_with(kSuffix)) {
    fail("'", path, "' must be a YAML file whose name ends with ", kSuffix, ".");
  }
  const FileDescriptor file = open_regular(path);
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fail_file("read", path, errno);
    }
    if (got == 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kLargestFile) {
      fail("'", path, "' has more than 64 MiB; ", what, " cannot be that large.");
    }
  }
}

}  // namespace msprobe::read

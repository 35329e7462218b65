// SPDX-License-Identifier: Apache-2.0
// A YAML file as libyaml's events: nothing is built that a file of a few bytes could blow up.
#pragma once

#include <yaml.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace msprobe::read {

class YamlEvents {
 public:
  YamlEvents(std::string_view text, const std::string& name);  // both must outlive it; `name` is for messages
  ~YamlEvents();
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;

  yaml_event_type_t next();  // Error, with line and column, for broken YAML
  // Of the event that came last.
  [[nodiscard]] std::string scalar() const;
  [[nodiscard]] std::size_t line() const { return event_.start_mark.line + 1; }

 private:
  const std::string& name_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

// For messages: "a list", "a mapping", "a text", ...
std::string_view yaml_kind(yaml_event_type_t type);

// The text of a file whose name must end with .yaml (`what` it is is for messages), up to 64 MiB.
std::string read_yaml_text(const std::string& path, std::string_view what);

}  // namespace msprobe::read

// SPDX-License-Identifier: Apache-2.0
// From events to lists.
#include "read/yaml_lists.h"

#include <algorithm>

#include "base/error.h"
#include "read/yaml_events.h"

namespace msprobe::read {
namespace {

std::string joined(const std::vector<std::string_view>& texts) {
  std::string all;
  for (const std::string_view text : texts) {
    all += (all.empty() ? "" : ", ") + std::string(text);
  }
  return all;
}

// The value of a key, whose first event has come.
std::vector<std::string> read_list(YamlEvents& events, yaml_event_type_t type, const std::string& name,
                                   const std::string& key) {
  std::vector<std::string> list;
  if (type == YAML_SCALAR_EVENT && (events.scalar().empty() || events.scalar() == "~" || events.scalar() == "null")) {
    return list;
  }
  if (type != YAML_SEQUENCE_START_EVENT) {
    fail("'", name, "' line ", events.line(), ": '", key, "' must be a list, one text a line behind a dash, and is ",
         yaml_kind(type), ".");
  }
  for (type = events.next(); type != YAML_SEQUENCE_END_EVENT; type = events.next()) {
    if (type != YAML_SCALAR_EVENT) {
      fail("'", name, "' line ", events.line(), ": '", key, "' must be a list of texts, and has ", yaml_kind(type), " in it.");
    }
    list.push_back(events.scalar());
  }
  return list;
}

}  // namespace

YamlLists parse_yaml_lists(std::string_view text, const std::string& name, const std::vector<std::string_view>& known) {
  YamlEvents events(text, name);
  YamlLists lists;
  events.next();  // the stream
  if (events.next() != YAML_DOCUMENT_START_EVENT) {
    fail("'", name, "' is empty: it must have lists under ", joined(known), ".");
  }
  if (const yaml_event_type_t type = events.next(); type != YAML_MAPPING_START_EVENT) {
    fail("'", name, "' line ", events.line(), " begins ", yaml_kind(type), ": it must have lists under ", joined(known), ".");
  }
  for (yaml_event_type_t type = events.next(); type != YAML_MAPPING_END_EVENT; type = events.next()) {
    const std::string key = type == YAML_SCALAR_EVENT ? events.scalar() : std::string();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail("'", name, "' line ", events.line(), ": there is no key '", key, "'; there are ", joined(known), ".");
    }
    if (lists.contains(key)) {
      fail("'", name, "' line ", events.line(), ": '", key, "' stands twice.");
    }
    type = events.next();
    lists.emplace(key, read_list(events, type, name, key));
  }
  events.next();  // the document's end
  if (events.next() != YAML_STREAM_END_EVENT) {
    fail("'", name, "' line ", events.line(), " begins a second document: one is all that it may hold.");
  }
  return lists;
}

YamlLists read_yaml_lists(const std::string& path, const std::vector<std::string_view>& known) {
  return parse_yaml_lists(read_yaml_text(path, "a configuration"), path, known);
}

}  // namespace msprobe::read

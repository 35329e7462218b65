// SPDX-License-Identifier: Apache-2.0
// From events to pairs.
#include "read/yaml_map.h"

#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "read/yaml_events.h"

namespace msprobe::read {
namespace {

constexpr std::string_view kWanted = "it must hold lines of the form 'name of target: name of golden'";

}  // namespace

YamlMap parse_yaml_map(std::string_view text, const std::string& name) {
  YamlEvents parser(text, name);
  YamlMap map;
  std::unordered_map<std::string, std::size_t> places;
  parser.next();  // the stream
  if (parser.next() != YAML_DOCUMENT_START_EVENT) {
    fail("'", name, "' is empty: ", kWanted, ".");
  }
  if (const yaml_event_type_t type = parser.next(); type != YAML_MAPPING_START_EVENT) {
    fail("'", name, "' line ", parser.line(), " begins ", yaml_kind(type), ": ", kWanted, ".");
  }
  for (yaml_event_type_t type = parser.next(); type != YAML_MAPPING_END_EVENT; type = parser.next()) {
    if (type != YAML_SCALAR_EVENT) {
      fail("'", name, "' line ", parser.line(), ": a key is ", yaml_kind(type), ": ", kWanted, ".");
    }
    std::string key = parser.scalar();
    if (type = parser.next(); type != YAML_SCALAR_EVENT) {
      fail("'", name, "' line ", parser.line(), ": the value of '", key, "' is ", yaml_kind(type), ": ", kWanted, ".");
    }
    const auto [place, is_new] = places.try_emplace(key, map.size());
    if (is_new) {
      map.emplace_back(std::move(key), parser.scalar());
    } else {
      map[place->second].second = parser.scalar();
    }
  }
  parser.next();  // the document's end
  if (parser.next() != YAML_STREAM_END_EVENT) {
    fail("'", name, "' line ", parser.line(), " begins a second document: one mapping is all that it may hold.");
  }
  if (map.empty()) {
    fail("'", name, "' is empty: ", kWanted, ".");
  }
  return map;
}

YamlMap read_yaml_map(const std::string& path) { return parse_yaml_map(read_yaml_text(path, "a map of names"), path); }

}  // namespace msprobe::read

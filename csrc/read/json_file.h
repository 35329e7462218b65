// SPDX-License-Identifier: Apache-2.0
// Streams the events of a JSON file to a handler; a file that is broken is an Error with its byte and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace msprobe::read {

// Events in the order of the file; texts are valid during the call. NaN, Infinity and -Infinity are numbers.
class JsonHandler {
 public:
  JsonHandler() = default;
  JsonHandler(const JsonHandler&) = delete;
  JsonHandler& operator=(const JsonHandler&) = delete;
  virtual ~JsonHandler() = default;

  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  virtual void number(std::string_view text) = 0;
  virtual void string(std::string_view text) = 0;
  virtual void key(std::string_view text) = 0;
  virtual void open_object() = 0;
  virtual void open_list() = 0;
  virtual void close_object() = 0;
  virtual void close_list() = 0;
};

// Called from time to time with the bytes that were read since the last call.
using ReadProgress = std::function<void(std::uint64_t bytes)>;

// Takes a megabyte or two whatever the file's size; values nested deeper than 1,000 and single texts above 64 MiB are errors.
// Returns the file's size.
std::uint64_t parse_json_file(const std::string& path, JsonHandler& handler, const ReadProgress& progress = {});

// The same for text in memory; `name` is for messages.
void parse_json_text(std::string_view text, const std::string& name, JsonHandler& handler);

}  // namespace msprobe::read

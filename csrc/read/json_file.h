// SPDX-License-Identifier: Apache-2.0
// Streams the events of a JSON file to a handler; a file that is broken is an Error with its byte and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

// Numbers beyond float64. kStop: the parser stops there. kAsInfinity: they come as Infinity or -Infinity, as Python reads them; slower.
enum class LargeNumbers : std::uint8_t { kStop, kAsInfinity };

// Takes a megabyte or two whatever the file's size; values nested deeper than 1,000 and single texts above 64 MiB are errors.
// Returns the file's size, or nothing if it stopped at a large number.
std::optional<std::uint64_t> parse_json_file(const std::string& path, JsonHandler& handler, LargeNumbers large,
                                             const ReadProgress& progress = {});

// The same for text in memory; `name` is for messages. False if it stopped at a large number.
bool parse_json_text(std::string_view text, const std::string& name, JsonHandler& handler, LargeNumbers large);

}  // namespace msprobe::read

// SPDX-License-Identifier: Apache-2.0
// Times, sizes, kinds.
#include "report/page_description.h"

#include <sys/stat.h>

#include <ctime>

#include "report/page_file.h"

namespace msprobe::report {
namespace {

std::string local_time(std::time_t time) {
  std::tm parts{};
  localtime_r(&time, &parts);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S %z", &parts));
  return text;
}

}  // namespace

void begin_description(JsonText& json, std::string_view kind) {
  json.key("kind");
  json.text(kind);
  json.key("made");
  json.text(local_time(std::time(nullptr)));
  json.key("limit");
  json.integer(static_cast<std::int64_t>(kPageRows));
}

void append_table_size(JsonText& json, std::size_t rows, std::uint64_t of_all) {
  json.key("rows");
  json.integer(static_cast<std::int64_t>(rows));
  json.key("of_all");
  json.integer(static_cast<std::int64_t>(of_all));
}

std::string time_of_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? local_time(status.st_mtime) : std::string{};
}

}  // namespace msprobe::report

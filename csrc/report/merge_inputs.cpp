// SPDX-License-Identifier: Apache-2.0
// Reads a folder's names.
#include "report/merge_inputs.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>

#include "base/error.h"
#include "compare/run.h"

namespace msprobe::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTimeDigits = 14;

// compare_result_[step{N}_]rank{N}_{time}[_{suffix}].csv, or .xlsx. A later time is newer, and so is a higher suffix.
struct ResultName {
  std::optional<std::int64_t> step;
  std::int64_t rank = 0;
  std::string_view time;
  std::int64_t suffix = 0;
  bool csv = false;
};

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) {
    return false;
  }
  text.remove_prefix(word.size());
  return true;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<ResultName> parse_name(std::string_view text) {
  ResultName name;
  if (!take(text, compare::kResultPrefix)) {
    return std::nullopt;
  }
  if (take(text, "step")) {
    name.step = take_number(text);
    if (!name.step || !take(text, "_")) {
      return std::nullopt;
    }
  }
  if (!take(text, "rank")) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> rank = take_number(text);
  if (!rank || !take(text, "_") || text.size() < kTimeDigits) {
    return std::nullopt;
  }
  name.rank = *rank;
  name.time = text.substr(0, kTimeDigits);
  text.remove_prefix(kTimeDigits);
  if (!std::all_of(name.time.begin(), name.time.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
    return std::nullopt;
  }
  if (take(text, "_")) {
    const std::optional<std::int64_t> suffix = take_number(text);
    if (!suffix) {
      return std::nullopt;
    }
    name.suffix = *suffix;
  }
  name.csv = text == ".csv";
  return name.csv || text == ".xlsx" ? std::optional(name) : std::nullopt;
}

}  // namespace

MergeInputs find_merge_inputs(const std::string& folder, std::vector<std::string>& notes) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  if (error) {
    fail_file("read the folder", folder, error.value());
  }
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : entries) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());  // the notes' order must not depend on the file system

  using Age = std::tuple<std::string_view, std::int64_t, bool>;
  std::map<std::pair<std::optional<std::int64_t>, std::int64_t>, std::pair<Age, std::string_view>> newest;
  for (const std::string& text : names) {
    const std::optional<ResultName> name = parse_name(text);
    if (!name) {
      continue;
    }
    const Age age(name->time, name->suffix, name->csv);
    auto [place, is_first] = newest.try_emplace({name->step, name->rank}, age, text);
    if (is_first) {
      continue;
    }
    auto& [best_age, best] = place->second;
    const bool same_run = std::get<0>(best_age) == name->time && std::get<1>(best_age) == name->suffix;
    const std::string_view older = age > best_age ? best : std::string_view(text);
    if (!same_run) {
      notes.push_back("'" + folder + "/" + std::string(older) + "' is left out: there is a newer result of that rank");
    }
    if (age > best_age) {
      place->second = {age, text};
    }
  }

  MergeInputs inputs;
  for (const auto& [key, value] : newest) {
    inputs[key.first][key.second] = (fs::path(folder) / value.second).string();
  }
  return inputs;
}

}  // namespace msprobe::report

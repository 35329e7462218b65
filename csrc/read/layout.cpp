// SPDX-License-Identifier: Apache-2.0
// Looks into folders by the names of the dumper's layout; everything else in them is left alone.
#include "read/layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace msprobe::read {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDumpName = "dump.json";
constexpr std::array<std::string_view, 2> kNoDumps = {"stack.json", "construct.json"};  // what may lie beside a dump
constexpr std::array<std::pair<std::string_view, FolderKind>, 3> kKinds = {
    {{"rank", FolderKind::kRank}, {"proc", FolderKind::kProc}, {"pid", FolderKind::kPid}}};

struct Numbered {
  bool matches = false;
  std::optional<std::int64_t> number;
};

// "rank12" for "rank": digits without a leading zero, or none at all.
Numbered numbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) {
    return {};
  }
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty()) {
    return {true, std::nullopt};
  }
  std::int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  if (!whole || digits.front() == '-' || (digits.front() == '0' && digits.size() > 1)) {
    return {};
  }
  return {true, number};
}

bool wanted(const std::optional<std::int64_t>& number, const NumberRanges& ranges) {
  return ranges.empty() || !number || std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
           return range.first <= *number && *number <= range.second;
         });
}

constexpr std::size_t kNumbersShown = 8;

// "; it has step 0, 1, 2, ..."; "" for none.
std::string numbers_there(std::string_view joint, std::string_view what, const std::set<std::int64_t>& numbers) {
  std::string text;
  std::size_t shown = 0;
  for (const std::int64_t number : numbers) {
    text += text.empty() ? std::string(joint) + std::string(what) + " " : ", ";
    if (shown++ == kNumbersShown) {
      return text + "...";
    }
    text += std::to_string(number);
  }
  return text;
}

// What lies under one of the two paths.
class Scan {
 public:
  Scan(std::string path, bool is_target, const NumberRanges& ranks, const NumberRanges& steps)
      : path_(std::move(path)), is_target_(is_target), ranks_(ranks), steps_(steps) {
    std::error_code error;
    const fs::file_status status = fs::status(path_, error);
    if (!fs::exists(status)) {
      fail_file("open", path_, error ? error.value() : ENOENT);
    }
    if (!fs::is_directory(status)) {
      dumps.push_back({path_, std::nullopt, FolderKind::kNone, std::nullopt});
    } else {
      folder(path_);
    }
    if (dumps.empty() && filtered_) {
      const std::string steps = numbers_there(", it has ", "step", step_numbers);
      fail("'", path_, "' holds no dump of the ranks and steps that were asked for", steps,
           numbers_there(steps.empty() ? ", it has " : " and ", "rank", rank_numbers),
           ": choose others, or leave the choice out.");
    }
    if (dumps.empty()) {
      fail("'", path_,
           "' holds no dump: give a dump.json, a folder with one, a folder with rank*, proc* or pid* folders, or one with "
           "step* folders.");
    }
  }

  std::vector<DumpPlace> dumps;
  std::vector<Unpaired> without_dump;
  bool has_steps = false;               // the path holds step folders
  std::set<std::int64_t> step_numbers;  // whether wanted or not
  std::set<std::int64_t> rank_numbers;  // of the steps that are wanted

 private:
  // Folders of steps and ranks come before a file: only a dump.json beside them is a dump as well, any other JSON is none.
  void folder(const fs::path& path) {
    const Folders entries = folders(path);
    has_steps = std::any_of(entries.begin(), entries.end(), [](const auto& entry) { return step_of(entry.first).has_value(); });
    for (const auto& [name, entry] : entries) {
      if (const std::optional<std::int64_t> step = step_of(name)) {
        step_if_wanted(entry, step);
      }
    }
    if (!has_steps) {
      step_if_wanted(path, step_of(own_name(path)));
    } else if (const std::string file = dump_in(path, true); !file.empty()) {
      if (steps_.empty()) {
        dumps.push_back({file, std::nullopt, FolderKind::kNone, std::nullopt});
      } else {
        filtered_ = true;
      }
    }
  }

  void step_if_wanted(const fs::path& path, const std::optional<std::int64_t>& step) {
    if (step) {
      step_numbers.insert(*step);
    }
    if (wanted(step, steps_)) {
      step_folder(path, step);
    } else {
      filtered_ = true;
    }
  }

  bool rank_is_wanted(const std::optional<std::int64_t>& rank) {
    if (rank) {
      rank_numbers.insert(*rank);
    }
    const bool is_wanted = wanted(rank, ranks_);
    filtered_ = filtered_ || !is_wanted;
    return is_wanted;
  }

  static std::optional<std::int64_t> step_of(std::string_view name) { return numbered(name, "step").number; }

  static std::string own_name(const fs::path& path) {
    const fs::path full = fs::absolute(path).lexically_normal();
    return (full.has_filename() ? full : full.parent_path()).filename().string();
  }

  // A rank folder that was given by itself knows its number.
  static void name_after(DumpPlace& place, const fs::path& path) {
    for (const auto& [prefix, kind] : kKinds) {
      if (const Numbered own = numbered(own_name(path), prefix); own.matches && own.number && kind == FolderKind::kRank) {
        place.number = own.number;
      }
    }
  }

  void step_folder(const fs::path& path, const std::optional<std::int64_t>& step) {
    bool has_ranks = false;
    for (const auto& [name, entry] : folders(path)) {
      for (const auto& [prefix, kind] : kKinds) {
        const Numbered found = numbered(name, prefix);
        if (!found.matches) {
          continue;
        }
        has_ranks = true;
        if (kind == FolderKind::kRank && !rank_is_wanted(found.number)) {
          continue;
        }
        const std::string file = dump_in(entry, false);
        if (file.empty()) {
          without_dump.push_back({is_target_, entry.string(), "it holds no dump.json"});
        } else {
          dumps.push_back({file, step, kind, found.number});
        }
      }
    }
    if (const std::string file = dump_in(path, has_ranks); !file.empty()) {
      DumpPlace place{file, step, FolderKind::kNone, std::nullopt};
      name_after(place, path);
      if (rank_is_wanted(place.number)) {
        dumps.push_back(place);
      }
    }
  }

  using Folders = std::vector<std::pair<std::string, fs::path>>;
  static Folders folders(const fs::path& path) {
    Folders found;
    std::error_code error;
    for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_directory(ignored)) {
        found.emplace_back(entry->path().filename().string(), entry->path());
      }
    }
    if (error) {
      fail_file("read folder", path.string(), error.value());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // dump.json, or the only JSON file there is; "" if there is none.
  static std::string dump_in(const fs::path& path, bool only_by_name) {
    std::error_code error;
    const bool is_file = fs::is_regular_file(path / kDumpName, error);
    // What may not be looked at may be a dump: that it cannot be opened is told with the reason, not passed over.
    if (is_file || (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)) {
      return (path / kDumpName).string();
    }
    if (only_by_name) {
      return {};
    }
    std::vector<std::string> others;
    for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code ignored;
      const std::string name = entry->path().filename().string();
      if (entry->path().extension() == ".json" && entry->is_regular_file(ignored) &&
          std::find(kNoDumps.begin(), kNoDumps.end(), name) == kNoDumps.end()) {
        others.push_back(entry->path().string());
      }
    }
    if (others.size() > 1) {
      std::sort(others.begin(), others.end());
      fail("'", path.string(), "' has no dump.json but several JSON files ('", others[0], "', '", others[1],
           "', ...): give the path of the one to compare.");
    }
    return others.empty() ? std::string{} : others.front();
  }

  std::string path_;
  bool is_target_;
  const NumberRanges& ranks_;
  const NumberRanges& steps_;
  bool filtered_ = false;
};

// A choice among numbers that no dump has would choose nothing, and silently.
void check_choice(const std::string& paths, const std::vector<DumpPlace>& dumps, const NumberRanges& ranks, bool has_ranks,
                  const NumberRanges& steps, bool has_steps) {
  const std::string dumps_there = "no dump under " + paths + " ('" + dumps.front().path + "', ...) is of a known ";
  if (!ranks.empty() && !has_ranks) {
    fail(dumps_there, "rank: ranks are chosen by their rank{N} folders, and there are none; leave the choice of ranks out.");
  }
  if (!steps.empty() && !has_steps) {
    fail(dumps_there, "step: steps are chosen by their step{N} folders, and there are none; leave the choice of steps out.");
  }
}

using Places = std::vector<const DumpPlace*>;
using BySteps = std::map<std::int64_t, Places>;
constexpr std::int64_t kNoStep = -1;

BySteps by_steps(const std::vector<DumpPlace>& dumps) {
  BySteps steps;
  for (const DumpPlace& dump : dumps) {
    steps[dump.step.value_or(kNoStep)].push_back(&dump);
  }
  return steps;
}

std::string reason_for(const DumpPlace& dump) {
  return "the other side has no partner for it" + (dump.label().empty() ? std::string{} : " (" + dump.label() + ")");
}

// Of one step: by kind and number; a dump that is alone on each side, by whatever process number, belongs to the other.
void pair_step(const Places& targets, const Places& goldens, Layout& layout) {
  const auto has_name = [](const DumpPlace& dump) { return dump.kind == FolderKind::kRank; };
  if (targets.size() == 1 && goldens.size() == 1 && !(has_name(*targets[0]) && has_name(*goldens[0]))) {
    layout.pairs.push_back({*targets[0], *goldens[0]});
    return;
  }
  std::map<std::pair<FolderKind, std::int64_t>, std::pair<const DumpPlace*, const DumpPlace*>> found;
  const auto key = [](const DumpPlace& dump) { return std::pair(dump.kind, dump.number.value_or(-1)); };
  for (const DumpPlace* dump : targets) {
    found[key(*dump)].first = dump;
  }
  for (const DumpPlace* dump : goldens) {
    found[key(*dump)].second = dump;
  }
  for (const auto& [name, sides] : found) {
    if (sides.first != nullptr && sides.second != nullptr) {
      layout.pairs.push_back({*sides.first, *sides.second});
    } else {
      const DumpPlace& lone = sides.first != nullptr ? *sides.first : *sides.second;
      layout.unpaired.push_back({sides.first != nullptr, lone.path, reason_for(lone)});
    }
  }
}

}  // namespace

std::string DumpPlace::label() const {
  std::string text;
  for (const auto& [prefix, folder_kind] : kKinds) {
    if (kind == folder_kind) {
      text = std::string(prefix) + (number ? std::to_string(*number) : std::string{});
    }
  }
  return text;
}

Layout pair_dumps(const std::string& target, const std::string& golden, const NumberRanges& ranks, const NumberRanges& steps) {
  const Scan targets(target, true, ranks, steps);
  const Scan goldens(golden, false, ranks, steps);
  check_choice("'" + target + "' and '" + golden + "'", targets.dumps, ranks,
               !targets.rank_numbers.empty() || !goldens.rank_numbers.empty(), steps,
               !targets.step_numbers.empty() || !goldens.step_numbers.empty());
  Layout layout;
  layout.unpaired = targets.without_dump;
  layout.unpaired.insert(layout.unpaired.end(), goldens.without_dump.begin(), goldens.without_dump.end());
  const BySteps target_steps = by_steps(targets.dumps);
  const BySteps golden_steps = by_steps(goldens.dumps);
  // A step folder or a dump that was given by itself is compared whatever its number.
  const bool one_each = target_steps.size() == 1 && golden_steps.size() == 1 && !(targets.has_steps && goldens.has_steps);
  std::map<std::int64_t, std::pair<Places, Places>> all;
  for (const auto& [step, places] : target_steps) {
    all[step].first = places;
  }
  for (const auto& [step, places] : golden_steps) {
    all[one_each ? target_steps.begin()->first : step].second = places;
  }
  std::size_t paired_steps = 0;
  for (const auto& [step, sides] : all) {
    const std::size_t before = layout.pairs.size();
    pair_step(sides.first, sides.second, layout);
    paired_steps += step != kNoStep && layout.pairs.size() > before ? 1 : 0;
  }
  layout.several_steps = paired_steps > 1;
  if (layout.pairs.empty()) {
    const std::string example = layout.unpaired.empty() ? std::string{} : " ('" + layout.unpaired.front().path + "', ...)";
    fail("nothing under '", target, "' and '", golden, "' has the same step and rank", example,
         ": give two dump.json, or folders whose ranks and steps have the same numbers.");
  }
  return layout;
}

std::vector<DumpPlace> find_dumps(const std::string& path, const NumberRanges& ranks, const NumberRanges& steps) {
  Scan scan(path, true, ranks, steps);
  check_choice("'" + path + "'", scan.dumps, ranks, !scan.rank_numbers.empty(), steps, !scan.step_numbers.empty());
  std::stable_sort(scan.dumps.begin(), scan.dumps.end(), [](const DumpPlace& a, const DumpPlace& b) {
    return std::tuple(a.step.value_or(kNoStep), a.kind, a.number.value_or(-1)) <
           std::tuple(b.step.value_or(kNoStep), b.kind, b.number.value_or(-1));
  });
  return std::move(scan.dumps);
}

std::uint64_t file_size(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

std::string beside(const std::string& dump_path, const std::string& name) {
  const fs::path path = fs::path(dump_path).parent_path() / name;
  std::error_code error;
  return fs::is_regular_file(path, error) ? path.string() : std::string{};
}

}  // namespace msprobe::read

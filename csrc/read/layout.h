// SPDX-License-Identifier: Apache-2.0
// Finds the dumps under two paths and pairs them: files, rank, proc and pid folders, step folders, whole dump paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msprobe::read {

enum class FolderKind : std::uint8_t { kNone, kRank, kProc, kPid };  // kNone: the path itself was the dump

// One dump.json, and where among folders it stood.
struct DumpPlace {
  std::string path;  // of the file
  std::optional<std::int64_t> step;
  FolderKind kind = FolderKind::kNone;
  std::optional<std::int64_t> number;       // of the rank, proc or pid folder; a folder may be called just "rank"
  [[nodiscard]] std::string label() const;  // "rank3", "pid17", "rank"; "" for kNone
};

struct DumpPair {
  DumpPlace target;
  DumpPlace golden;
};

struct Unpaired {
  bool in_target = true;
  std::string path;
  std::string reason;
};

struct Layout {
  std::vector<DumpPair> pairs;  // by step, then by number
  std::vector<Unpaired> unpaired;
  bool several_steps = false;  // among the pairs
};

// Numbers that are wanted: ranges, both ends included. Empty: all.
using NumberRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Throws Error if a path is not there, holds no dump, or nothing can be paired.
Layout pair_dumps(const std::string& target, const std::string& golden, const NumberRanges& ranks = {},
                  const NumberRanges& steps = {});

// All dumps under one path, by step, then by kind and number. Throws Error as above; a folder without a dump among others is passed over.
std::vector<DumpPlace> find_dumps(const std::string& path, const NumberRanges& ranks = {}, const NumberRanges& steps = {});

std::uint64_t file_size(const std::string& path);  // 0 if there is none

// A file beside the dump, as "stack.json"; empty if it is not there.
std::string beside(const std::string& dump_path, const std::string& name);

}  // namespace msprobe::read

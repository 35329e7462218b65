// SPDX-License-Identifier: Apache-2.0
// Which of the hooked modules have recorded anything since they were hooked, and what is known of those that have not.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "log/record.h"
#include "log/tag.h"

namespace msprobe::log {

using SiteIndex = std::int64_t;

// Thread-safe.
class Account {
 public:
  struct Silent {
    std::string name;
    std::string reason;
  };
  // sites = recorded + silent.size() + filtered
  struct Summary {
    std::int64_t sites = 0;
    std::int64_t recorded = 0;
    std::int64_t filtered = 0;
    std::vector<Silent> silent;  // in the order in which they were hooked
  };

  // What a module can be expected to do.
  enum class Kind : std::uint8_t {
    kCollected,
    kFiltered,        // neither the list nor the level lets it through
    kWithoutForward,  // a container, as ModuleList: nobody can call it
  };

  // A module that the dumper was given. `parent` is that of the module tree, or -1. Names are those of tags; two models may have the
  // same.
  SiteIndex add(std::string name, Kind kind, SiteIndex parent);

  // Its forward was called, by Python.
  void called(SiteIndex site);

  // Notes whose records these are.
  void recorded(std::span<const Record> records, const TagTable& tags);

  [[nodiscard]] Summary summary(const TagTable& tags) const;

 private:
  struct Site {
    std::string name;
    SiteIndex parent = -1;
    Kind kind = Kind::kCollected;
    bool called = false;
    bool recorded = false;
  };

  std::string reason_for(const Site& site, const TagTable& tags) const;

  mutable std::mutex mutex_;
  std::vector<Site> sites_;
  std::unordered_multimap<std::string, std::size_t> by_name_;
  std::vector<bool> seen_;  // by NameId: records of this name have come
};

}  // namespace msprobe::log

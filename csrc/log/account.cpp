// SPDX-License-Identifier: Apache-2.0
// Counts sites, and finds out why some are silent.
#include "log/account.h"

#include <algorithm>
#include <utility>

namespace msprobe::log {

SiteIndex Account::add(std::string name, Kind kind, SiteIndex parent) {
  const std::lock_guard lock(mutex_);
  by_name_.emplace(name, sites_.size());
  sites_.push_back({std::move(name), parent, kind, false, false});
  return static_cast<SiteIndex>(sites_.size()) - 1;
}

void Account::called(SiteIndex site) {
  const std::lock_guard lock(mutex_);
  if (site >= 0 && static_cast<std::size_t>(site) < sites_.size()) {
    sites_[static_cast<std::size_t>(site)].called = true;
  }
}

void Account::recorded(std::span<const Record> records, const TagTable& tags) {
  const std::lock_guard lock(mutex_);
  for (const Record& record : records) {
    const Tag& tag = tags[record.tag];
    if (tag.name_id >= seen_.size()) {
      seen_.resize(tag.name_id + 1, false);
    }
    if (seen_[tag.name_id]) {
      continue;
    }
    seen_[tag.name_id] = true;
    if (tag.kind == EntryKind::kModule) {
      const auto [begin, end] = by_name_.equal_range(tag.name);
      std::for_each(begin, end, [&](const auto& place) { sites_[place.second].recorded = true; });
    }
  }
}

Account::Summary Account::summary(const TagTable& tags) const {
  const std::lock_guard lock(mutex_);
  Summary summary;
  summary.sites = static_cast<std::int64_t>(sites_.size());
  for (const Site& site : sites_) {
    if (site.recorded) {
      ++summary.recorded;
    } else if (site.kind == Kind::kFiltered) {
      ++summary.filtered;
    } else {
      summary.silent.push_back({site.name, reason_for(site, tags)});
    }
  }
  return summary;
}

std::string Account::reason_for(const Site& site, const TagTable& tags) const {
  if (tags.knows_call(EntryKind::kModule, site.name)) {
    return "captured, but its graph has not been replayed while recording was on";
  }
  if (site.called) {
    return "called, but there was no tensor in its arguments and results, or recording was off";
  }
  if (site.kind == Kind::kWithoutForward) {
    return "a container without a forward of its own: what it holds is called one by one";
  }
  const auto around = [&](const Site& inner) {
    return inner.parent < 0 ? nullptr : &sites_[static_cast<std::size_t>(inner.parent)];
  };
  const Site* parent = around(site);
  while (parent != nullptr && parent->kind == Kind::kWithoutForward) {
    parent = around(*parent);
  }
  if (parent != nullptr && (parent->recorded || parent->called)) {
    return "not called through its forward, though the module around it was: it does not run, or it runs through a graph or "
           "a compiled callable made before start()";
  }
  return "never called since start(): it does not run, or it runs in a graph captured or compiled before start()";
}

}  // namespace msprobe::log

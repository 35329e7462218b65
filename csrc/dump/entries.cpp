// SPDX-License-Identifier: Apache-2.0
// Groups records into calls.
#include "dump/entries.h"

#include <string_view>
#include <unordered_map>

#include "format/fields.h"

namespace msprobe::dump {
namespace {

struct CallsOfName {
  std::int64_t started = 0;
  std::vector<std::size_t> open;  // indices of entries, innermost last
};

// Kinds have separate name spaces: a module tree can hold a class called like an API.
std::string name_key(const log::Tag& tag) { return (tag.kind == log::EntryKind::kModule ? 'm' : 'a') + tag.name; }

}  // namespace

std::string Entry::name() const {
  const std::string index = std::to_string(call_index);
  const std::string forward(field::kForward);
  return tag->kind == log::EntryKind::kModule ? tag->name + "." + forward + "." + index
                                              : tag->name + "." + index + "." + forward;
}

std::vector<Entry> collect_entries(std::span<const log::Record> records, const log::TagTable& tags) {
  std::vector<Entry> entries;
  std::unordered_map<std::string, CallsOfName> calls;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    const log::Tag& tag = tags[records[i].tag];
    CallsOfName& of_name = calls[name_key(tag)];
    // A place that the open call already has: its opening tensor was lost (it did not run) and a new call began.
    if (tag.opens_call || of_name.open.empty() || entries[of_name.open.back()].places.contains(tag.place)) {
      of_name.open.push_back(entries.size());
      entries.push_back(Entry{&tag, of_name.started++, position, position, {}, {}});
    }
    Entry& entry = entries[of_name.open.back()];
    entry.records.push_back(position);
    entry.places.insert(tag.place);
    entry.last = position;
    if (tag.closes_call) {
      of_name.open.pop_back();
    }
  }
  return entries;
}

}  // namespace msprobe::dump

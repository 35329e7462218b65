// SPDX-License-Identifier: Apache-2.0
// Groups records into calls.
#include "dump/entries.h"

#include "dump/calls.h"
#include "format/fields.h"

namespace msprobe::dump {

std::string entry_name(const log::Tag& tag, std::string_view call) {
  std::string name = tag.name;
  if (tag.kind == log::EntryKind::kModule) {
    return name.append(".").append(field::kForward).append(".").append(call);
  }
  return name.append(".").append(call).append(".").append(field::kForward);
}

std::vector<Entry> collect_entries(std::span<const log::Record> records, const log::TagTable& tags) {
  std::vector<Entry> entries;
  Calls calls;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const log::Record& record = records[i];
    const auto position = static_cast<std::int64_t>(i);
    const log::Tag& tag = tags[record.tag];
    const std::size_t number = calls.add(record, tag);
    if (number == entries.size()) {
      const std::int64_t index = record.call_index == log::kCountLater ? calls[number].index : record.call_index;
      entries.push_back(Entry{&tag, index, position, position, {}});
    }
    entries[number].records.push_back(position);
    entries[number].last = position;
  }
  return entries;
}

}  // namespace msprobe::dump

// SPDX-License-Identifier: Apache-2.0
// The layout of dump.json: header, entries, nested arguments, records.
#include "dump/dump_json.h"

#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "dump/entries.h"
#include "dump/json.h"
#include "format/fields.h"

namespace msprobe::dump {
namespace {

// One of the four numbers of a record. A value that is not finite is null under its own key and told under kSpecial.
struct Number {
  std::string_view key;
  stats::Extreme value;  // kNone: null without more to say
};

stats::Extreme real(double value) {
  stats::Extreme extreme;
  extreme.kind = stats::Extreme::Kind::kReal;
  extreme.real = value;
  return extreme;
}

std::array<Number, 4> numbers_of(const stats::Stats& stats) {
  if (stats.count == 0) {
    return {{{field::kMax, {}}, {field::kMin, {}}, {field::kMean, {}}, {field::kNorm, {}}}};
  }
  return {
      {{field::kMax, stats.max}, {field::kMin, stats.min}, {field::kMean, real(stats.mean)}, {field::kNorm, real(stats.norm)}}};
}

bool is_not_finite(const stats::Extreme& value) {
  return value.kind == stats::Extreme::Kind::kReal && !std::isfinite(value.real);
}

std::string_view special_word(double value) {
  if (std::isnan(value)) {
    return field::kNan;
  }
  return value > 0 ? field::kPosInf : field::kNegInf;
}

class Writer {
 public:
  Writer(const DumpPlace& place, std::span<const log::Record> records, const Parameters& parameters,
         const log::Session& session)
      : file_(place.folder + "/" + std::string(field::kDumpFile)),
        place_(place),
        records_(records),
        parameters_(parameters),
        session_(session) {}

  void header() {
    text_ += "{\n ";
    member(field::kTask, place_.tensors != nullptr ? field::kTaskTensor : field::kTaskStatistics);
    text_ += ",\n ";
    member(field::kLevel, place_.level);
    text_ += ",\n ";
    member(field::kFramework, field::kFrameworkPytorch);
    text_ += ",\n ";
    key(field::kDumpDataDir);
    if (place_.tensors != nullptr) {
      append_json_string(text_, place_.folder + "/" + std::string(field::kTensorFolder));
    } else {
      text_ += "null";
    }
    text_ += ",\n ";
    if (!place_.run.empty()) {
      key(field::kRun);
      text_ += place_.run + ",\n ";
    }
    key(field::kData);
    text_ += '{';
  }

  void entry(const Entry& entry, bool first) {
    text_ += first ? "\n  " : ",\n  ";
    key(entry.name());
    text_ += "{\n   ";
    section(entry, log::Section::kInputArgs, field::kInputArgs, "[]");
    text_ += ",\n   ";
    section(entry, log::Section::kInputKwargs, field::kInputKwargs, "{}");
    text_ += ",\n   ";
    section(entry, log::Section::kOutput, field::kOutput, "[]");
    text_ += ",\n   ";
    if (const auto* fresh = is_first_of_module(entry) ? parameters_.of(entry.tag->name_id) : nullptr) {
      parameters(*fresh);
      text_ += ",\n   ";
    }
    key(field::kOrder);
    text_ += '{';
    member(field::kOrderFirst, entry.first);
    text_ += ", ";
    member(field::kOrderLast, entry.last);
    text_ += "}}";
    file_.write(text_);
    text_.clear();
  }

  [[nodiscard]] const std::unordered_set<log::NameId>& modules() const noexcept { return modules_; }

  void finish() {
    text_ += "\n }\n}\n";
    file_.write(text_);
    file_.commit();
  }

 private:
  using Positions = std::vector<std::int64_t>;

  void key(std::string_view name) {
    append_json_string(text_, name);
    text_ += ": ";
  }
  void member(std::string_view name, std::string_view value) {
    key(name);
    append_json_string(text_, value);
  }
  void member(std::string_view name, std::int64_t value) {
    key(name);
    append_json_number(text_, value);
  }

  const log::Record& record_at(std::int64_t position) const { return records_[static_cast<std::size_t>(position)]; }
  const log::Tag& tag_at(std::int64_t position) const { return session_.tags[record_at(position).tag]; }

  void section(const Entry& entry, log::Section which, std::string_view name, std::string_view empty) {
    Positions positions;
    for (const std::int64_t position : entry.records) {
      if (tag_at(position).section == which) {
        positions.push_back(position);
      }
    }
    key(name);
    if (positions.empty()) {
      text_ += empty;
    } else {
      container(positions, 0);
    }
  }

  // A sequence or mapping, `depth` path steps down. Members stand in the order of their first tensor; what holds no tensor has
  // left no record, so sequences close up.
  void container(const Positions& positions, std::size_t depth) {
    std::vector<std::pair<const log::PathElement*, Positions>> members;
    std::unordered_map<std::string_view, std::size_t> member_of;  // a container has keys or indices, never both
    for (const std::int64_t position : positions) {
      const log::PathElement& element = tag_at(position).path[depth];
      const auto [place, is_new] = member_of.try_emplace(element.text, members.size());
      if (is_new) {
        members.emplace_back(&element, Positions{});
      }
      members[place->second].second.push_back(position);
    }
    const bool mapping = members.front().first->is_key;
    text_ += mapping ? '{' : '[';
    for (const auto& [element, inside] : members) {
      if (element != members.front().first) {
        text_ += ", ";
      }
      if (mapping) {
        key(element->text);
      }
      const bool leaf = tag_at(inside.front()).path.size() == depth + 1;
      if (leaf) {
        record(record_at(inside.front()));
      } else {
        container(inside, depth + 1);
      }
    }
    text_ += mapping ? '}' : ']';
  }

  void record(const log::Record& record) {
    text_ += '{';
    member(field::kType, field::kTypeTensor);
    text_ += ", ";
    member(field::kDtype, dtype_name(record.dtype));
    text_ += ", ";
    key(field::kShape);
    shape(session_.shapes[record.shape]);
    const auto numbers = numbers_of(record.stats);
    for (const Number& number : numbers) {
      text_ += ", ";
      key(number.key);
      value(number.value);
    }
    special(numbers);
    if (record.has_counts) {
      counts(record.stats);
    }
    if (record.in_file) {
      data_name(record);
    }
    if (record.note != log::kNoNote) {
      text_ += ", ";
      member(field::kNote, session_.notes[record.note]);
    }
    text_ += '}';
  }

  bool is_first_of_module(const Entry& entry) {
    return entry.tag->kind == log::EntryKind::kModule && modules_.insert(entry.tag->name_id).second;
  }

  void parameters(const std::vector<log::Record>& records) {
    key(field::kParameters);
    text_ += '{';
    for (const log::Record& one : records) {
      text_ += &one == &records.front() ? "" : ", ";
      key(session_.tags[one.tag].path.front().text);
      record(one);
    }
    text_ += '}';
  }

  void shape(const std::vector<std::int64_t>& sizes) {
    text_ += '[';
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      text_ += i == 0 ? "" : ", ";
      append_json_number(text_, sizes[i]);
    }
    text_ += ']';
  }

  void value(const stats::Extreme& value) {
    if (value.kind == stats::Extreme::Kind::kNone || is_not_finite(value)) {
      text_ += "null";
    } else if (value.kind == stats::Extreme::Kind::kReal) {
      append_json_number(text_, value.real);
    } else if (value.kind == stats::Extreme::Kind::kSigned) {
      append_json_number(text_, value.signed_int);
    } else {
      append_json_number(text_, value.unsigned_int);
    }
  }

  void special(const std::array<Number, 4>& numbers) {
    bool any = false;
    for (const Number& number : numbers) {
      if (!is_not_finite(number.value)) {
        continue;
      }
      if (!any) {
        text_ += ", ";
        key(field::kSpecial);
      }
      text_ += any ? ", " : "{";
      member(number.key, special_word(number.value.real));
      any = true;
    }
    text_ += any ? "}" : "";
  }

  void data_name(const log::Record& record) {
    const FileName file = place_.tensors->of(session_.tags[record.tag], record.call_index);
    text_ += ", ";
    member(field::kDataName, file.name);
    if (!file.full.empty()) {
      text_ += ", ";
      member(field::kFullName, file.full);
    }
  }

  void counts(const stats::Stats& stats) {
    text_ += ", ";
    key(field::kCounts);
    text_ += '{';
    member(field::kCountNan, stats.nan);
    text_ += ", ";
    member(field::kCountPosInf, stats.pos_inf);
    text_ += ", ";
    member(field::kCountNegInf, stats.neg_inf);
    text_ += ", ";
    member(field::kCountZero, stats.zero);
    text_ += '}';
  }

  AtomicFile file_;
  const DumpPlace& place_;
  std::string text_;  // of the entry at hand
  std::span<const log::Record> records_;
  const Parameters& parameters_;
  const log::Session& session_;
  std::unordered_set<log::NameId> modules_;  // that have had an entry
};

}  // namespace

std::int64_t write_dump_json(const DumpPlace& place, std::span<const log::Record> records, Parameters& parameters,
                             const log::Session& session) {
  create_folders(place.folder);
  const std::vector<Entry> entries = collect_entries(records, session.tags);
  Writer writer(place, records, parameters, session);
  writer.header();
  for (const Entry& entry : entries) {
    writer.entry(entry, &entry == &entries.front());
  }
  writer.finish();
  parameters.written(writer.modules());
  return static_cast<std::int64_t>(entries.size());
}

}  // namespace msprobe::dump

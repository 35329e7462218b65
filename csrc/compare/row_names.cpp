// SPDX-License-Identifier: Apache-2.0
// Takes op names apart and puts keys together.
#include "compare/row_names.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "format/fields.h"
#include "read/op_rows.h"

namespace msprobe::compare {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

CallNumber call_number(std::string_view op_name) {
  const std::size_t last_dot = op_name.rfind('.');
  if (last_dot == std::string_view::npos || last_dot == 0) {
    return {};
  }
  const std::size_t dot = op_name.rfind('.', last_dot - 1);
  const std::size_t before = dot == std::string_view::npos ? 0 : dot + 1;
  const std::string_view first = op_name.substr(before, last_dot - before);
  const std::string_view last = op_name.substr(last_dot + 1);
  const auto is_pass = [](std::string_view text) { return text == field::kForward || text == field::kBackward; };
  if (is_pass(first) && is_number(last)) {
    return {last_dot + 1, last.size()};
  }
  if (is_pass(last) && is_number(first)) {
    return {before, first.size()};
  }
  return {};
}

RowKeys::RowKeys(const read::DumpModel& model, KeyKind kind) : model_(model), kind_(kind) {
  if (kind != KeyKind::kOrdinal) {
    return;
  }
  ordinals_.assign(model.ops.size(), kSame);
  std::unordered_map<std::string, std::uint32_t> counts;
  for (std::size_t op = 0; op < model.ops.size(); ++op) {
    const std::string_view name = model.text(model.ops[op].name);
    const CallNumber number = call_number(name);
    if (number.size != 0 && read::op_kind(name) == read::OpKind::kBackward) {
      std::string same(name.substr(0, number.begin));
      same += name.substr(number.begin + number.size);
      ordinals_[op] = counts[same]++;
    }
  }
}

void RowKeys::append(std::string& out, const read::Leaf& leaf) const {
  const std::string_view name = model_.op_name(leaf);
  const std::string_view suffix = model_.suffixes[leaf.suffix];
  if (const read::TextId data_name = model_.extra(leaf).data_name; data_name != 0) {
    // A saved tensor's file has the row's name as a rule; another one is a key of its own.
    std::string_view own = model_.text(data_name);
    own = own.substr(0, own.rfind('.'));
    const bool usual = own.size() == name.size() + suffix.size() && own.starts_with(name) && own.ends_with(suffix);
    if (!usual) {
      out += own;
      return;
    }
  }
  const bool renumbered = kind_ == KeyKind::kOrdinal && ordinals_[leaf.op] != kSame;
  if (kind_ == KeyKind::kNoNumber || renumbered) {
    const CallNumber number = call_number(name);
    out += name.substr(0, number.begin);
    if (renumbered) {
      out += std::to_string(ordinals_[leaf.op]);
    }
    out += name.substr(number.size == 0 ? 0 : number.begin + number.size);
  } else {
    out += name;
  }
  out += suffix;
}

void apply_cell_map(std::string& key, const read::YamlMap& map) {
  constexpr std::string_view kCell = "Cell.";
  constexpr std::string_view kModule = "Module.";
  constexpr std::array<std::string_view, 3> kMarks = {".forward.", ".backward.", ".parameters_grad."};
  std::size_t end = std::string::npos;
  for (const std::string_view mark : kMarks) {
    end = std::min(end, key.find(mark));
  }
  if (end == std::string::npos) {
    return;
  }
  if (const std::size_t dot = key.find('.'); dot < end && !map.empty()) {
    std::string middle = key.substr(dot + 1, end - dot - 1);
    const auto whole = std::find_if(map.begin(), map.end(), [&](const auto& entry) { return entry.first == middle; });
    if (whole != map.end()) {
      middle = whole->second;
    } else {
      for (const auto& [from, to] : map) {
        if (const std::size_t at = from.empty() ? std::string::npos : middle.find(from); at != std::string::npos) {
          middle.replace(at, from.size(), to);
        }
      }
    }
    key.replace(dot + 1, end - dot - 1, middle);
  }
  if (key.starts_with(kCell)) {
    key.replace(0, kCell.size(), kModule);
  }
}

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// JSON by our own escaper: valid whatever the dumps hold.
#include "compare/diff_json.h"

#include <array>
#include <cmath>

#include "compare/divergence_text.h"
#include "compare/divergence_words.h"
#include "compare/measures.h"
#include "dump/json.h"

namespace msprobe::compare {
namespace {

using read::Leaf;

constexpr double kSamePercent = 50;
constexpr std::string_view kGoldenAlone = "(Bench only)";
constexpr std::array<std::string_view, read::kStatistics> kNumberKeys = {"NPU max", "NPU min", "NPU mean", "NPU l2norm"};

void key(std::string& out, std::string_view name) {
  dump::append_json_string(out, name);
  out += ": ";
}

void member(std::string& out, std::string_view name, std::string_view text) {
  key(out, name);
  dump::append_json_string(out, text);
}

void cell_value(std::string& out, const Cell& cell, ColumnType type) {
  if (type == ColumnType::kNumber && cell.kind == CellKind::kInteger) {
    dump::append_json_number(out, cell.integer);
  } else if (type == ColumnType::kNumber && cell.kind == CellKind::kReal && std::isfinite(cell.real)) {
    dump::append_json_number(out, cell.real);
  } else {
    dump::append_json_string(out, cell.text);
  }
}

std::string_view state_of(read::Section section) {
  switch (section) {
    case read::Section::kInput:
      return "input";
    case read::Section::kParameters:
      return "parameters";
    case read::Section::kOutput:
      return "output";
    default:
      return "parameters_grad";
  }
}

std::string_view or_not_available(const read::DumpModel& model, read::TextId id) { return id == 0 ? "N/A" : model.text(id); }

void item(std::string& out, const Comparison& comparison, const ComparedBlock& block, std::size_t row_number,
          Scratch& scratch) {
  const JudgedRow& row = block.row(row_number);
  const std::vector<Column>& columns = comparison.table.columns;
  out += '{';
  for (std::size_t column = 0; column < columns.size(); ++column) {
    key(out, columns[column].name);
    cell_value(out, block.cell(row_number, column, scratch), columns[column].type);
    out += ", ";
  }
  const Leaf& own = comparison.own_leaf(row.pair);
  const read::DumpModel& model = row.pair.of_target ? *comparison.target : *comparison.golden;
  const bool matched = is_matched(row.pair);
  const auto extra = [&](bool target) -> const read::Extra* {
    if (target) {
      return matched || row.pair.of_target ? &comparison.target->extra(comparison.target_leaf(row.pair)) : nullptr;
    }
    return matched || !row.pair.of_target ? &comparison.golden->extra(comparison.golden_leaf(row.pair)) : nullptr;
  };
  const read::Extra* const left = extra(true);
  const read::Extra* const right = extra(false);
  const auto p2p = [&](std::string_view name, const read::DumpModel& side, read::TextId id) {
    out += ", ";
    member(out, name, or_not_available(side, id));
  };
  member(out, "state", state_of(own.section));
  out += ", ";
  member(out, "api_origin_name", model.op_name(own));
  p2p("NPU P2POp op", *comparison.target, left == nullptr ? 0 : left->p2p_op);
  p2p("Bench P2POp op", *comparison.golden, right == nullptr ? 0 : right->p2p_op);
  p2p("NPU P2POp peer", *comparison.target, left == nullptr ? 0 : left->p2p_peer);
  p2p("Bench P2POp peer", *comparison.golden, right == nullptr ? 0 : right->p2p_peer);
  out += '}';
}

// These two outputs of a fused attention hold random state.
bool is_random_state(std::string_view op, std::string_view suffix) {
  return op.find("npu_fusion_attention") != std::string_view::npos && (suffix == ".output.4" || suffix == ".output.5");
}

}  // namespace

bool differs(const Comparison& comparison, const JudgedRow& row) {
  const bool of_target = row.pair.of_target;
  const Leaf& own = comparison.own_leaf(row.pair);
  const read::DumpModel& model = of_target ? *comparison.target : *comparison.golden;
  if ((row.rules & (bit(Rule::kTargetBroken) | bit(Rule::kGoldenBroken))) != 0) {
    return true;
  }
  if (own.section != read::Section::kOutput || is_random_state(model.op_name(own), model.suffixes[own.suffix])) {
    return false;
  }
  if (!is_matched(row.pair)) {
    return true;
  }
  if (comparison.table.mode == Mode::kMd5) {
    return (row.rules & (bit(Rule::kMd5) | bit(Rule::kMd5Missing))) != 0;
  }
  const Measures measures =
      measure(*comparison.target, comparison.target_leaf(row.pair), *comparison.golden, comparison.golden_leaf(row.pair));
  for (const Difference& difference : measures.differences) {
    const bool large =
        difference.kind == DifferenceKind::kNumbers && (difference.golden_zero || difference.percent > kSamePercent);
    if (large || difference.kind == DifferenceKind::kNotFinite || difference.kind == DifferenceKind::kOther) {
      return true;
    }
  }
  return false;
}

DiffJson::DiffJson(const std::string& path) : file_(path) { file_.write("{"); }

std::string DiffJson::encode(const Comparison& comparison, const ComparedBlock& block) {
  std::string out;
  Scratch scratch;
  std::size_t begin = 0;
  while (begin < block.size()) {
    const RowPair& first = block.row(begin).pair;
    std::size_t end = begin + 1;
    const auto same_entry = [&](const RowPair& other) {
      return first.of_target == other.of_target &&
             (!first.of_target || comparison.target_leaf(first).op == comparison.target_leaf(other).op);
    };
    bool same = !differs(comparison, block.row(begin));
    for (; end < block.size() && same_entry(block.row(end).pair); ++end) {
      same = same && !differs(comparison, block.row(end));
    }
    out += out.empty() ? "\n " : ",\n ";
    if (first.of_target) {
      key(out, comparison.target->op_name(comparison.target_leaf(first)));
    } else {
      key(out, std::string(kGoldenAlone) + " " + std::to_string(first.golden));
    }
    out += same ? R"({"is_same": true, "op_items": [)" : R"({"is_same": false, "op_items": [)";
    for (std::size_t row = begin; row < end; ++row) {
      out += row == begin ? "\n  " : ",\n  ";
      item(out, comparison, block, row, scratch);
    }
    out += "]}";
    begin = end;
  }
  return out;
}

void DiffJson::append(const std::string& encoded) {
  if (encoded.empty()) {
    return;
  }
  file_.write(empty_ ? std::string_view{} : std::string_view(","));
  file_.write(encoded);
  empty_ = false;
}

std::string DiffJson::finish() {
  file_.write("\n}\n");
  return file_.commit_new();
}

namespace {

void append_numbers(std::string& out, const Comparison& comparison, const Leaf& leaf, std::string& text) {
  const read::DumpModel& model = *comparison.target;
  if (comparison.table.mode == Mode::kMd5) {
    member(out, "NPU MD5", checksum_text(model, leaf, text));
    out += ", ";
    return;
  }
  for (std::size_t statistic = 0; statistic < read::kStatistics; ++statistic) {
    const read::Number number = model.number(leaf, statistic);
    key(out, kNumberKeys[statistic]);
    if (number.kind == read::NumberKind::kReal && std::isfinite(number.real)) {
      dump::append_json_number(out, number.real);
    } else if (number.kind == read::NumberKind::kInteger) {
      dump::append_json_number(out, number.integer);
    } else {
      text.clear();
      append_statistic(text, number);
      dump::append_json_string(out, text);
    }
    out += ", ";
  }
}

void append_rows(std::string& out, const Comparison& comparison, const read::Op& op, bool outputs) {
  const read::DumpModel& model = *comparison.target;
  const char* separator = "";
  for (const Leaf& leaf : model.leaves_of(op)) {
    if ((leaf.section == read::Section::kOutput) != outputs) {
      continue;
    }
    out += separator;
    separator = ", ";
    std::string text;
    model.append_row_name(text, leaf);
    key(out, text);
    out += '{';
    append_numbers(out, comparison, leaf, text);
    member(out, "NPU P2POp peer", or_not_available(model, model.extra(leaf).p2p_peer));
    out += '}';
  }
}

void append_verdict(std::string& out, std::string_view result, std::string_view sentence) {
  out += ", \"divergence\": {";
  member(out, divergence::word::kResult, result);
  out += ", ";
  member(out, divergence::word::kSentence, sentence);
  out += '}';
}

constexpr std::string_view kNoOpHead = R"({"op_name": null, "data_info": {"input": {}, "output": {}}, "stack_info": "N/A")";

}  // namespace

std::string analysis_json(const Comparison& comparison, std::optional<std::uint32_t> target_op,
                          const divergence::Verdict* verdict) {
  const read::DumpModel& model = *comparison.target;
  std::string out;
  std::string_view name;
  if (target_op) {
    const read::Op& op = model.ops[*target_op];
    name = model.text(op.name);
    out += '{';
    member(out, "op_name", name);
    out += R"(, "data_info": {"input": {)";
    append_rows(out, comparison, op, false);
    out += R"(}, "output": {)";
    append_rows(out, comparison, op, true);
    out += "}}, ";
    const std::string_view stack = comparison.stack == nullptr ? std::string_view{} : comparison.stack->find(name);
    member(out, "stack_info", stack.empty() ? "N/A" : stack);
  } else {
    out += kNoOpHead;
  }
  if (verdict != nullptr) {
    out += ", \"divergence\": ";
    divergence::append_json(out, *verdict);
  } else {
    append_verdict(out, divergence::word::kNotJudged,
                   target_op ? "The first call with an output whose checksum differs is " + std::string(name) +
                                   ". Checksums do not tell noise from a fault."
                             : "No checksum of an output differs.");
  }
  return out + "}";
}

std::string analysis_json(std::string_view why_not) {
  std::string out(kNoOpHead);
  append_verdict(out, divergence::word::kNotJudged, why_not);
  return out + "}";
}

}  // namespace msprobe::compare

// SPDX-License-Identifier: Apache-2.0
// Summary to JSON.
#include "report/summary_json.h"

#include <optional>
#include <string_view>
#include <vector>

#include "compare/divergence_text.h"
#include "report/json_text.h"

namespace msprobe::report {
namespace {

void append_counts(JsonText& json, const compare::ResultCounts& counts) {
  json.open('{');
  for (std::size_t i = 0; i < counts.size(); ++i) {
    json.key(compare::result_name(static_cast<compare::Result>(i)));
    json.integer(static_cast<std::int64_t>(counts[i]));
  }
  json.close('}');
}

std::string_view mode_name(compare::Mode mode) {
  switch (mode) {
    case compare::Mode::kStatistics:
      return "statistics";
    case compare::Mode::kMd5:
      return "md5";
    case compare::Mode::kTensor:
      return "tensor";
  }
  return "";
}

std::string_view grade_name(compare::divergence::Grade grade) {
  switch (grade) {
    case compare::divergence::Grade::kFault:
      return "fault";
    case compare::divergence::Grade::kSuspect:
      return "suspect";
    case compare::divergence::Grade::kHint:
      return "hint";
    case compare::divergence::Grade::kNone:
      break;
  }
  return "none";
}

void append_divergence(JsonText& json, const std::optional<compare::divergence::Verdict>& verdict) {
  if (!verdict) {
    json.integer(std::nullopt);
    return;
  }
  const compare::divergence::Spot* spot = verdict->first();
  json.open('{');
  json.key("grade");
  json.text(grade_name(spot == nullptr ? compare::divergence::Grade::kNone : spot->grade));
  json.key("call");
  json.text(spot == nullptr ? "" : spot->call);
  json.key("sentence");
  json.text(compare::divergence::sentence(*verdict));
  json.key("riders");
  json.texts(compare::divergence::riders(*verdict));
  json.close('}');
}

void append_pair(JsonText& json, const compare::PairSummary& pair) {
  json.open('{');
  json.key("step");
  json.integer(pair.step);
  json.key("rank");
  json.integer(pair.rank);
  json.key("label");
  json.text(pair.label);
  json.key("target");
  json.text(pair.target_path);
  json.key("golden");
  json.text(pair.golden_path);
  json.key("mode");
  json.text(mode_name(pair.mode));
  json.key("counts");
  append_counts(json, pair.counts);
  json.key("largest_relative_error");
  json.real(pair.largest_relative_error);
  json.key("divergence");
  append_divergence(json, pair.divergence);
  json.key("files");
  json.texts(pair.files);
  json.key("warnings");
  json.texts(pair.warnings);
  json.key("error");
  json.text(pair.error);
  json.close('}');
}

void append_worst(JsonText& json, const compare::WorstRow& row) {
  json.open('{');
  json.key("step");
  json.integer(row.step);
  json.key("label");
  json.text(row.label);
  json.key("row");
  json.integer(static_cast<std::int64_t>(row.row));
  json.key("target_name");
  json.text(row.target_name);
  json.key("golden_name");
  json.text(row.golden_name);
  json.key("result");
  json.text(compare::result_name(row.result));
  json.key("relative_error");
  json.real(row.relative_error);
  json.key("messages");
  json.texts(row.messages);
  json.close('}');
}

}  // namespace

std::string summary_json(const compare::Summary& summary) {
  JsonText json;
  json.open('{');
  json.key("counts");
  append_counts(json, summary.counts);
  json.key("pairs");
  json.open('[');
  for (const compare::PairSummary& pair : summary.pairs) {
    append_pair(json, pair);
  }
  json.close(']');
  json.key("unpaired");
  json.open('[');
  for (const read::Unpaired& one : summary.unpaired) {
    json.texts({one.in_target ? "target" : "golden", one.path, one.reason});
  }
  json.close(']');
  json.key("worst");
  json.open('[');
  for (const compare::WorstRow& row : summary.worst) {
    append_worst(json, row);
  }
  json.close(']');
  json.key("first_diverging_step");
  json.integer(summary.first_diverging_step);
  json.key("files");
  json.texts(summary.files);
  json.key("seconds");
  json.real(summary.seconds);
  json.close('}');
  return json.take();
}

}  // namespace msprobe::report

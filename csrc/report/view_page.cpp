// SPDX-License-Identifier: Apache-2.0
// Reads the dumps, looks for signs, writes the page.
#include "report/view_page.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/parallel.h"
#include "compare/measures.h"
#include "compare/values.h"
#include "dump/json.h"
#include "read/dump_reader.h"
#include "report/dump_signs.h"
#include "report/page_columns.h"
#include "report/page_description.h"
#include "report/page_file.h"
#include "report/page_rows.h"
#include "report/summary_json.h"

namespace msprobe::report {
namespace {

using compare::Result;

// Those of a comparison that one side has, by the same keys.
const std::vector<PageColumn> kColumns = {
    {"target_name", "Name", PageKind::kName},    {"target_dtype", "Dtype", PageKind::kText},
    {"target_shape", "Shape", PageKind::kText},  {"target_grad", "Requires_grad", PageKind::kText},
    {"target_max", "Max", PageKind::kNumber},    {"target_min", "Min", PageKind::kNumber},
    {"target_mean", "Mean", PageKind::kNumber},  {"target_norm", "L2norm", PageKind::kNumber},
    {"target_md5", "MD5", PageKind::kText},      {"target_special", "Special values", PageKind::kText},
    {"result", "Result", PageKind::kText},       {"message", "Message", PageKind::kText},
    {"data_name", "Data_name", PageKind::kText}, {"order", "Order", PageKind::kNumber},
};
enum ColumnOfView : std::uint8_t {
  kName,
  kDtype,
  kShape,
  kGrad,
  kFirstNumber,
  kMd5 = 8,
  kSpecial,
  kResult,
  kMessage,
  kDataName,
  kOrder
};

struct Viewed {
  compare::PairSummary summary;
  std::string packed;
  std::size_t rows = 0;
  std::uint64_t of_all = 0;
  std::string signs;  // JSON members of the table's description
  ViewedDump told;
};

std::string row_name(const read::DumpModel& model, std::size_t leaf) {
  std::string name;
  model.append_row_name(name, model.leaves[leaf]);
  return name;
}

std::string_view grad_text(read::RequiresGrad grad) {
  return grad == read::RequiresGrad::kAbsent ? "N/A" : (grad == read::RequiresGrad::kTrue ? "True" : "False");
}

void append_sign_counts(JsonText& json, const std::array<std::uint64_t, kSignKinds>& counts) {
  json.open('{');
  for (std::size_t kind = 0; kind < kSignKinds; ++kind) {
    json.key(sign_name(static_cast<SignKind>(kind)));
    json.integer(static_cast<std::int64_t>(counts.at(kind)));
  }
  json.close('}');
}

class DumpView {
 public:
  DumpView(const read::DumpPlace& place, const read::ReadProgress& progress) : model_(read::read_dump(place.path, progress)) {
    viewed_ = describe(place);
  }

  static Viewed describe(const read::DumpPlace& place) {
    Viewed viewed;
    compare::PairSummary& summary = viewed.summary;
    summary.step = viewed.told.step = place.step;
    if (place.kind == read::FolderKind::kRank || place.kind == read::FolderKind::kNone) {
      summary.rank = viewed.told.rank = place.number;
    }
    summary.label = viewed.told.label = place.label();
    summary.target_path = viewed.told.path = place.path;
    return viewed;
  }

  Viewed run() {
    signs_ = find_signs(model_);
    fill();
    tell();
    return std::move(viewed_);
  }

 private:
  void fill() {
    PageRows rows(kColumns);
    for (std::size_t leaf = 0; leaf < model_.leaves.size(); ++leaf) {
      const bool broken = model_.extra(model_.leaves[leaf]).problem != 0;
      const std::optional<SignKind>& sign = signs_[leaf];
      const Result result = broken || sign == SignKind::kNotFinite ? Result::kError : sign ? Result::kWarning : Result::kPass;
      ++viewed_.summary.counts.at(static_cast<std::size_t>(result));
      viewed_.told.broken += broken ? 1 : 0;
      // As in a comparison's page: what stands out has a place where not all rows have.
      if (rows.size() < (result == Result::kPass ? kPassedPageRows : kPageRows)) {
        add(rows, leaf, result);
      }
    }
    viewed_.packed = rows.packed();
    viewed_.rows = rows.size();
    viewed_.of_all = model_.leaves.size();
  }

  void add(PageRows& rows, std::size_t at, Result result) {
    const read::Leaf& leaf = model_.leaves[at];
    const read::Extra& extra = model_.extra(leaf);
    rows.text(kName, row_name(model_, at));
    rows.text(kDtype, model_.dtypes[leaf.dtype]);
    rows.text(kShape, model_.shapes[leaf.shape]);
    rows.text(kGrad, grad_text(leaf.requires_grad));
    for (std::size_t statistic = 0; statistic < read::kStatistics; ++statistic) {
      const read::Number number = model_.number(leaf, statistic);
      std::string text;
      compare::append_statistic(text, number);
      const compare::Value value = compare::classify(number);
      fill_page_number(rows, kFirstNumber + statistic, value.value_class <= compare::ValueClass::kNegInf, value.real, text);
    }
    std::string memory;
    rows.text(kMd5, compare::checksum_text(model_, leaf, memory));
    rows.text(kSpecial, special_text(model_.counts_of(leaf)));
    rows.text(kResult, compare::result_name(result));
    std::string message = "[]";
    if (extra.problem != 0) {
      message = "[";
      dump::append_json_string(message, "error: The entry is broken: " + std::string(model_.text(extra.problem)) + ".");
      message += "]";
    } else if (const std::optional<SignKind>& sign = signs_[at]) {
      message = "[";
      dump::append_json_string(message, sign_sentence(*sign));
      message += "]";
    }
    rows.text(kMessage, message);
    rows.text(kDataName, model_.text(extra.data_name));
    add_page_order(rows, kOrder, model_.moment_of(leaf));
    rows.end_row(result, at);
  }

  void tell() {
    const FirstSigns first = first_signs(model_, signs_);
    JsonText json;
    json.open('[');
    for (std::size_t kind = 0; kind < kSignKinds; ++kind) {
      for (const std::size_t leaf : first.leaves.at(kind)) {
        json.open('{');
        json.key("kind");
        json.text(sign_name(static_cast<SignKind>(kind)));
        json.key("name");
        json.text(row_name(model_, leaf));
        json.key("place");
        json.integer(static_cast<std::int64_t>(leaf));
        json.key("from_inputs");
        json.raw(first.inputs_had_it ? "true" : "false");
        json.close('}');
      }
    }
    json.close(']');
    JsonText counts;
    append_sign_counts(counts, first.counts);
    viewed_.signs = R"("signs": )" + json.take() + R"(, "sign_counts": )" + counts.take();
    viewed_.told.rows = model_.leaves.size();
    viewed_.told.signs = first.counts;
    viewed_.told.inputs_had_it = first.inputs_had_it;
    if (!first.leaves.front().empty()) {
      viewed_.told.first_not_finite = row_name(model_, first.leaves.front().front());
    }
    viewed_.told.sentences = sentences(first);
  }

  std::vector<std::string> sentences(const FirstSigns& first) const {
    constexpr std::array<std::array<std::string_view, 2>, kSignKinds> kWords = {
        {{"tensor has NaN or Inf", "tensors have NaN or Inf"},
         {"output is all zero", "outputs are all zero"},
         {"output is zero to 99 % or more", "outputs are zero to 99 % or more"},
         {"output has the same value everywhere", "outputs have the same value everywhere"},
         {"output is saturated: nearly every element has the largest magnitude",
          "outputs are saturated: nearly every element has the largest magnitude"},
         {"output reaches the largest number of its type", "outputs reach the largest number of their type"}}};
    std::vector<std::string> told;
    const std::vector<std::size_t>& not_finite = first.leaves.front();
    told.push_back(not_finite.empty() ? std::string("All numbers are finite.")
                                      : "NaN or Inf first appears in " + row_name(model_, not_finite.front()) +
                                            (first.inputs_had_it ? "." : ", whose inputs were finite."));
    for (std::size_t kind = 0; kind < kSignKinds; ++kind) {
      if (first.counts.at(kind) > 0) {
        told.push_back(std::to_string(first.counts.at(kind)) + " " +
                       std::string(kWords.at(kind).at(first.counts.at(kind) == 1 ? 0 : 1)) + "; first " +
                       row_name(model_, first.leaves.at(kind).front()) + ".");
      }
    }
    return told;
  }

  read::DumpModel model_;
  std::vector<std::optional<SignKind>> signs_;
  Viewed viewed_;
};

void append_table(JsonText& json, const Viewed& viewed) {
  json.open('{');
  append_table_size(json, viewed.rows, viewed.of_all);
  json.key("times");
  json.texts({time_of_file(viewed.summary.target_path)});
  json.key("dtypes");
  json.texts({});
  json.key("verdict");
  json.raw("null");
  json.key("chain");
  json.texts({});
  if (!viewed.signs.empty()) {
    json.raw(viewed.signs);
  }
  json.close('}');
}

std::string description(compare::Summary summary, const std::vector<Viewed>& viewed) {
  for (const Viewed& one : viewed) {
    for (std::size_t result = 0; result < summary.counts.size(); ++result) {
      summary.counts.at(result) += one.summary.counts.at(result);
    }
    summary.pairs.push_back(one.summary);
  }
  JsonText json;
  json.open('{');
  begin_description(json, "view");
  json.key("summary");
  json.raw(summary_json(summary));
  json.key("across_ranks");
  json.texts({});
  json.key("tables");
  json.open('[');
  for (const Viewed& one : viewed) {
    append_table(json, one);
  }
  json.close(']');
  json.close('}');
  return json.take();
}

}  // namespace

ViewReport write_view(const ViewOptions& options, compare::Progress* progress) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::vector<read::DumpPlace> places = read::find_dumps(options.dump, options.ranks, options.steps);
  create_folders(options.output);
  PageFile file(options.output + "/" + std::string(kViewPrefix) + compare::local_timestamp() + ".html");
  std::vector<Viewed> viewed(places.size());
  std::mutex mutex;
  double done = 0;
  const auto add = [&](double share, const std::string& what) {
    if (progress != nullptr) {
      const std::scoped_lock lock(mutex);
      done += share / static_cast<double>(places.size());
      progress->update(std::min(1.0, done), what);
    }
  };
  const int threads = options.threads > 0 ? options.threads : default_threads();
  parallel_ranges(places.size(), 1, threads, [&](std::size_t index, std::size_t /*end*/) {
    const read::DumpPlace& place = places[index];
    const double size = static_cast<double>(std::max<std::uint64_t>(1, read::file_size(place.path)));
    try {
      viewed[index] = DumpView(place, [&](std::uint64_t bytes) { add(static_cast<double>(bytes) / size, "reading"); }).run();
    } catch (const Error& error) {
      if (places.size() == 1) {
        throw;
      }
      viewed[index] = DumpView::describe(place);
      viewed[index].summary.error = error.what();
      viewed[index].told.error = error.what();
    }
  });
  std::size_t rows = 0;
  for (Viewed& one : viewed) {
    if (rows + one.rows > kPageRows) {
      one.packed.clear();
      one.rows = 0;
    }
    rows += one.rows;
  }
  compare::Summary summary;
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  file.write_description(description(std::move(summary), viewed));
  ViewReport report;
  for (Viewed& one : viewed) {
    file.write_table(one.packed);
    report.dumps.push_back(std::move(one.told));
  }
  report.file = file.finish();
  return report;
}

std::string title_of(const ViewedDump& dump, const ViewReport& report) {
  if (report.dumps.size() < 2) {
    return {};
  }
  const std::string title = dump.step ? "step " + std::to_string(*dump.step) : "";
  return title + (title.empty() || dump.label.empty() ? "" : " ") + dump.label;
}

std::string view_json(const ViewReport& report) {
  JsonText json;
  json.open('{');
  json.key("file");
  json.text(report.file);
  json.key("dumps");
  json.open('[');
  for (const ViewedDump& dump : report.dumps) {
    json.open('{');
    json.key("step");
    json.integer(dump.step);
    json.key("rank");
    json.integer(dump.rank);
    json.key("label");
    json.text(dump.label);
    json.key("path");
    json.text(dump.path);
    json.key("rows");
    json.integer(static_cast<std::int64_t>(dump.rows));
    json.key("broken");
    json.integer(static_cast<std::int64_t>(dump.broken));
    json.key("signs");
    append_sign_counts(json, dump.signs);
    json.key("first_not_finite");
    json.text(dump.first_not_finite);
    json.key("inputs_had_it");
    json.raw(dump.inputs_had_it ? "true" : "false");
    json.key("sentences");
    json.texts(dump.sentences);
    json.key("error");
    json.text(dump.error);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return json.take();
}

}  // namespace msprobe::report

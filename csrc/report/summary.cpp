// SPDX-License-Identifier: Apache-2.0
// The parts of the summary, in the order in which people read them.
#include "report/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <vector>

#include "compare/divergence_text.h"
#include "report/layout_text.h"
#include "report/unicode.h"

namespace msprobe::report {
namespace {

using compare::PairSummary;
using compare::Result;
using compare::Summary;

constexpr std::size_t kShown = 16;  // ranks, files, partners; what is more is counted
constexpr std::size_t kNarrowestName = 12;
constexpr std::size_t kNarrowestReason = 16;
constexpr std::array<Result, 4> kResults = {Result::kPass, Result::kWarning, Result::kError, Result::kUnmatched};

Ink ink_of(Result result) {
  constexpr std::array<Ink, 4> kInks = {Ink::kGreen, Ink::kYellow, Ink::kRed, Ink::kMagenta};
  return kInks[static_cast<std::size_t>(result)];
}

std::uint64_t rows_of(const compare::ResultCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::string counted(std::size_t number, std::string_view one, std::string_view several) {
  return grouped(number) + " " + std::string(number == 1 ? one : several);
}

std::string short_number(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", number);
  return text.data();
}

// What tells the pairs apart: the step, the rank, both, or nothing where there is one pair.
std::string title_of(std::optional<std::int64_t> step, const std::string& label, const Summary& summary) {
  const PairSummary& first = summary.pairs.front();
  const auto differs = [&](auto member) {
    return std::any_of(summary.pairs.begin(), summary.pairs.end(),
                       [&](const PairSummary& pair) { return pair.*member != first.*member; });
  };
  std::string title = step && differs(&PairSummary::step) ? "step " + std::to_string(*step) : "";
  if (!label.empty() && differs(&PairSummary::label)) {
    title += (title.empty() ? "" : " ") + label;
  }
  return title;
}

class Text {
 public:
  Text(const Summary& summary, const SummaryStyle& style) : summary_(summary), style_(style) {
    for (const PairSummary& pair : summary.pairs) {
      titles_.push_back(title_of(pair.step, pair.label, summary));
      title_width_ = std::max(title_width_, display_width(titles_.back()));
    }
  }

  std::string all() {
    counts();
    starts();
    worst();
    partners();
    files();
    return std::move(out_);
  }

 private:
  void heading(std::string_view text) { out_ += "\n" + inked(text, Ink::kBold, style_.colours) + "\n"; }
  void wrapped(std::string_view lead, std::string_view text, std::size_t indent) {
    append_wrapped(out_, lead, text, indent, style_.width);
  }

  void counts() {
    out_ += inked(counted(rows_of(summary_.counts), "row", "rows"), Ink::kBold, style_.colours) + " of " +
            counted(summary_.pairs.size(), "pair of dumps", "pairs of dumps") + " compared in " +
            short_number(summary_.seconds) + " s\n\n";
    std::vector<TextTable::Column> columns = {{"", false}};
    for (const Result result : kResults) {
      columns.push_back({std::string(compare::result_name(result)), true});
    }
    TextTable table(std::move(columns));
    if (summary_.pairs.size() > 1) {
      for (std::size_t i = 0; i < std::min(kShown, summary_.pairs.size()); ++i) {
        table.add(count_row(titles_[i], summary_.pairs[i].counts));
      }
      if (summary_.pairs.size() > kShown) {
        table.add({{"... " + grouped(summary_.pairs.size() - kShown) + " more", Ink::kPlain}, {}, {}, {}, {}});
      }
    }
    table.add(count_row(summary_.pairs.size() > 1 ? "total" : "rows", summary_.counts));
    table.append_to(out_, style_.width, style_.colours);
  }

  static std::vector<TextTable::Cell> count_row(const std::string& title, const compare::ResultCounts& counts) {
    std::vector<TextTable::Cell> row = {{title, Ink::kPlain}};
    for (const Result result : kResults) {
      const std::uint64_t count = counts[static_cast<std::size_t>(result)];
      row.push_back({grouped(count), count > 0 ? ink_of(result) : Ink::kPlain});
    }
    return row;
  }

  void starts() {
    std::vector<std::size_t> parted;
    std::vector<std::size_t> quiet;
    for (std::size_t i = 0; i < summary_.pairs.size(); ++i) {
      const PairSummary& pair = summary_.pairs[i];
      if (pair.divergence) {
        (pair.divergence->first() != nullptr ? parted : quiet).push_back(i);
      }
    }
    if (parted.empty() && quiet.empty()) {
      return;
    }
    heading("Where it starts");
    for (const compare::RankOrder& order : summary_.ranks) {
      if (!order.sentence.empty()) {
        wrapped("",
                (order.step && summary_.ranks.size() > 1 ? "step " + std::to_string(*order.step) + ": " : "") + order.sentence,
                0);
      }
    }
    steps();
    parted.insert(parted.end(), quiet.begin(), quiet.end());  // those that parted come first
    for (std::size_t i = 0; i < std::min(kShown, parted.size()); ++i) {
      start(parted[i], parted.size() <= 2);
    }
    if (parted.size() > kShown) {
      out_ += "... and " + grouped(parted.size() - kShown) + " more; --diff_analyze writes all of them as JSON\n";
    }
  }

  void start(std::size_t index, bool at_length) {
    const auto& divergence = summary_.pairs[index].divergence;
    if (!divergence) {
      return;  // not looked for, or the pair could not be read
    }
    const compare::divergence::Verdict& verdict = *divergence;
    const std::size_t indent = title_width_ == 0 ? 0 : title_width_ + 2;
    wrapped(titles_[index], compare::divergence::sentence(verdict), indent);
    for (const std::string& rider : compare::divergence::riders(verdict)) {
      wrapped("", rider, indent);
    }
    if (at_length) {
      for (const std::string& call : compare::divergence::chain(verdict)) {
        out_ += std::string(indent + 2, ' ') + fit(call, style_.width - indent - 2) + "\n";
      }
    }
  }

  void steps() {
    if (summary_.steps.empty()) {
      return;
    }
    std::string growth;
    for (std::size_t i = 0; i < std::min(kShown, summary_.steps.size()); ++i) {
      growth += (growth.empty() ? "" : ", ") + short_number(summary_.steps[i].largest_relative_error);
    }
    wrapped(
        "",
        (summary_.first_diverging_step ? "The first step that parts is " + std::to_string(*summary_.first_diverging_step) + "."
                                       : std::string("No step parts.")) +
            " Largest relative error, step by step: " + growth + (summary_.steps.size() > kShown ? ", ..." : "") + ".",
        0);
  }

  void worst() {
    if (summary_.worst.empty()) {
      return;
    }
    heading("Worst rows");
    const bool titled = title_width_ > 0;
    std::vector<TextTable::Column> columns = {{"result", false}, {"rel. error", true}};
    if (titled) {
      columns.push_back({"where", false});
    }
    columns.push_back({"row", false, kNarrowestName});
    columns.push_back({"why", false, kNarrowestReason, Cut::kEnd});
    TextTable table(std::move(columns));
    for (const compare::WorstRow& row : summary_.worst) {
      std::vector<TextTable::Cell> cells = {{std::string(compare::result_name(row.result)), ink_of(row.result)},
                                            {short_number(row.relative_error), Ink::kPlain}};
      if (titled) {
        cells.push_back({title_of(row.step, row.label, summary_), Ink::kPlain});
      }
      cells.push_back({row.target_name == "N/A" ? row.golden_name : row.target_name, Ink::kPlain});
      std::string_view why = row.messages.empty() ? std::string_view() : row.messages.front();
      why.remove_prefix(why.find(": ") == std::string_view::npos ? 0 : why.find(": ") + 2);  // the result stands in its column
      cells.push_back({std::string(why), Ink::kPlain});
      table.add(std::move(cells));
    }
    table.append_to(out_, style_.width, style_.colours);
  }

  void partners() {
    if (summary_.unpaired.empty()) {
      return;
    }
    heading("Without a partner");
    for (std::size_t i = 0; i < std::min(kShown, summary_.unpaired.size()); ++i) {
      const read::Unpaired& one = summary_.unpaired[i];
      wrapped(one.in_target ? "target" : "golden", one.path + ": " + one.reason, 8);
    }
    if (summary_.unpaired.size() > kShown) {
      out_ += "... and " + grouped(summary_.unpaired.size() - kShown) + " more\n";
    }
  }

  void files() {
    if (summary_.files.empty()) {
      return;
    }
    heading("Files");
    for (std::size_t i = 0; i < std::min(kShown, summary_.files.size()); ++i) {
      out_ += summary_.files[i] + "\n";
    }
    if (summary_.files.size() > kShown) {
      out_ += "... and " + grouped(summary_.files.size() - kShown) + " more beside them\n";
    }
  }

  const Summary& summary_;
  const SummaryStyle& style_;
  std::vector<std::string> titles_;  // of the pairs
  std::size_t title_width_ = 0;
  std::string out_;
};

}  // namespace

std::string summary_text(const Summary& summary, const SummaryStyle& style) { return Text(summary, style).all(); }

std::string pair_title(const PairSummary& pair, const Summary& summary) {
  const std::string title = title_of(pair.step, pair.label, summary);
  return title.empty() ? "" : title + ": ";
}

}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// Pairs of dumps side by side on the threads there are; then what all of them say together.
#include "compare/run.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/parallel.h"
#include "compare/diff_json.h"
#include "compare/divergence_text.h"
#include "compare/pair_run.h"
#include "compare/worst_rows.h"
#include "dump/json.h"
#include "read/yaml_map.h"

namespace msprobe::compare {

std::string local_timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::string text(15, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &parts));
  return text;
}

namespace {

using Clock = std::chrono::steady_clock;

std::string stem_of(const Options& options, const std::string& timestamp, const read::DumpPair& pair, bool several_steps) {
  std::string stem = options.output + "/" + std::string(kResultPrefix);
  if (several_steps && pair.target.step) {
    stem += "step" + std::to_string(*pair.target.step) + "_";
  }
  if (const std::string label = pair.target.label(); !label.empty()) {
    stem += label + "_";
  }
  return stem + timestamp;
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : std::string(between)) + text;
  }
  return all;
}

class Run {
 public:
  Run(const Options& options, Progress* progress)
      : options_(options), timestamp_(options.timestamp.empty() ? local_timestamp() : options.timestamp), progress_(progress) {}

  Summary run() {
    const Clock::time_point start = Clock::now();
    read_maps();
    layout_ = read::pair_dumps(options_.target, options_.golden, options_.ranks, options_.steps);
    create_folders(options_.output);
    for (const WholeFormat& format : options_.whole_formats) {
      whole_.push_back(format.make(options_.output + "/" + std::string(kResultPrefix) + timestamp_ + format.extension));
    }
    compare_all();
    summary_.unpaired = layout_.unpaired;
    across_ranks();
    across_steps();
    if (options_.diff_analyze) {
      write_analysis();
    }
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    std::vector<std::string> whole_files;
    for (const std::unique_ptr<WholeWriter>& whole : whole_) {
      summary_.seconds = seconds();
      whole_files.push_back(whole->finish(summary_));
    }
    // What shows all pairs comes first: there may be many tables.
    summary_.files.insert(summary_.files.begin(), whole_files.begin(), whole_files.end());
    summary_.seconds = seconds();
    return std::move(summary_);
  }

 private:
  void read_maps() {
    if (!options_.data_map.empty()) {
      data_map_ = read::read_yaml_map(options_.data_map);
    }
    if (!options_.cell_map.empty()) {
      cell_map_ = read::read_yaml_map(options_.cell_map);
    }
  }

  void compare_all() {
    const std::size_t count = layout_.pairs.size();
    const int threads = options_.threads > 0 ? options_.threads : default_threads();
    // Each pair reads with two threads; more pairs at once than that would only take memory.
    const int at_once = std::clamp(threads / 2, 1, static_cast<int>(std::min<std::size_t>(count, 1U << 16U)));
    Tracker tracker(progress_, count);
    outcomes_.resize(count);
    parallel_in_order(
        count, at_once,
        [&](std::size_t index) { outcomes_[index] = compare_one(layout_.pairs[index], threads / at_once, tracker); },
        [&](std::size_t index) { add(std::move(outcomes_[index])); });
  }

  PairOutcome compare_one(const read::DumpPair& pair, int threads, Tracker& tracker) const {
    PairRequest request;
    request.options = &options_;
    request.pair = &pair;
    request.data_map = options_.data_map.empty() ? nullptr : &data_map_;
    request.cell_map = options_.cell_map.empty() ? nullptr : &cell_map_;
    for (const std::unique_ptr<WholeWriter>& whole : whole_) {
      request.whole.push_back(whole.get());
    }
    request.stem = stem_of(options_, timestamp_, pair, layout_.several_steps);
    request.timestamp = timestamp_;
    request.threads = std::max(1, threads);
    request.tracker = &tracker;
    if (layout_.pairs.size() == 1) {
      return compare_pair(request);
    }
    try {
      return compare_pair(request);
    } catch (const FileError&) {
      throw;  // a disk that is full stops everything
    } catch (const Error& error) {
      PairOutcome outcome;
      outcome.summary.step = pair.target.step;
      outcome.summary.rank = pair.target.number;
      outcome.summary.label = pair.target.label();
      outcome.summary.target_path = pair.target.path;
      outcome.summary.golden_path = pair.golden.path;
      outcome.summary.error = error.what();
      return outcome;
    }
  }

  void add(PairOutcome outcome) {
    PairSummary& pair = outcome.summary;
    for (std::size_t result = 0; result < pair.counts.size(); ++result) {
      summary_.counts[result] += pair.counts[result];
    }
    for (WorstRow& row : outcome.worst) {
      row.step = layout_.several_steps ? pair.step : std::nullopt;
      row.label = layout_.pairs.size() > 1 ? pair.label : std::string{};
    }
    keep_worst(summary_.worst, outcome.worst);
    summary_.files.insert(summary_.files.end(), pair.files.begin(), pair.files.end());
    analyses_.push_back(std::move(outcome.analysis));
    summary_.pairs.push_back(std::move(pair));
  }

  void across_ranks() {
    std::map<std::int64_t, std::vector<const PairSummary*>> steps;
    for (const PairSummary& pair : summary_.pairs) {
      if (pair.divergence) {
        steps[pair.step.value_or(-1)].push_back(&pair);
      }
    }
    for (const auto& [step, pairs] : steps) {
      if (pairs.size() < 2) {
        continue;
      }
      std::vector<divergence::Named> named;
      named.reserve(pairs.size());
      for (const PairSummary* pair : pairs) {
        named.push_back({pair->label, pair->divergence ? &*pair->divergence : nullptr});
      }
      RankOrder order;
      order.step = pairs.front()->step;
      order.found = divergence::across_ranks(named);
      std::vector<std::string> labels;
      labels.reserve(order.found.first.size());
      for (const std::size_t rank : order.found.first) {
        labels.push_back(order.found.ranks[rank].name);
      }
      order.label = joined(labels, ", ");
      order.sentence = joined(divergence::report(order.found), " ");
      summary_.ranks.push_back(std::move(order));
    }
  }

  void across_steps() {
    if (!layout_.several_steps) {
      return;
    }
    std::map<std::int64_t, StepGrowth> steps;
    for (const PairSummary& pair : summary_.pairs) {
      if (!pair.step || !pair.error.empty()) {
        continue;
      }
      StepGrowth& growth = steps[*pair.step];
      growth.step = *pair.step;
      growth.largest_relative_error = std::max(growth.largest_relative_error, pair.largest_relative_error);
      growth.diverged = growth.diverged || (pair.divergence && pair.divergence->first() != nullptr);
    }
    for (const auto& [step, growth] : steps) {
      summary_.steps.push_back(growth);
      if (growth.diverged && !summary_.first_diverging_step) {
        summary_.first_diverging_step = step;
      }
    }
  }

  // The steps of each rank.
  std::vector<std::pair<std::string, divergence::AcrossSteps>> steps_by_rank() const {
    std::vector<std::pair<std::string, divergence::AcrossSteps>> all;
    if (!layout_.several_steps) {
      return all;
    }
    std::map<std::string, std::vector<divergence::Named>> ranks;
    for (const PairSummary& pair : summary_.pairs) {
      if (pair.divergence && pair.step) {
        // Processes are numbered anew in every run, and there is one alone.
        ranks[pair.rank ? pair.label : std::string{}].push_back({"step " + std::to_string(*pair.step), &*pair.divergence});
      }
    }
    for (const auto& [label, named] : ranks) {
      all.emplace_back(label, divergence::across_steps(named));
    }
    return all;
  }

  void write_analysis() {
    std::string text = "{";
    for (std::size_t index = 0; index < analyses_.size(); ++index) {
      const PairSummary& pair = summary_.pairs[index];
      text += index == 0 ? "\n " : ",\n ";
      dump::append_json_string(text, analysis_key(pair));
      text += ": [";
      text += analyses_[index].empty() ? analysis_json(pair.error.empty() ? joined(pair.warnings, "; ") : pair.error)
                                       : analyses_[index];
      text += "]";
    }
    for (const RankOrder& order : summary_.ranks) {
      text += ",\n ";
      dump::append_json_string(
          text, "across_ranks" + (layout_.several_steps ? "_step" + std::to_string(order.step.value_or(0)) : ""));
      text += ": ";
      divergence::append_json(text, order.found);
    }
    for (const auto& [label, steps] : steps_by_rank()) {
      text += ",\n ";
      dump::append_json_string(text, "across_steps" + (label.empty() ? "" : "_" + label));
      text += ": ";
      divergence::append_json(text, steps);
    }
    text += "\n}\n";
    AtomicFile file(options_.output + "/diff_analyze_" + timestamp_ + ".json");
    file.write(text);
    summary_.files.push_back(file.commit_new());
  }

  std::string analysis_key(const PairSummary& pair) const {
    const std::string key = layout_.several_steps && pair.step ? "step_" + std::to_string(*pair.step) + "_" : "";
    if (pair.rank) {
      return key + "rank_" + std::to_string(*pair.rank);
    }
    return key + (pair.label.empty() ? "rank" : pair.label);
  }

  const Options& options_;
  std::string timestamp_;
  Progress* progress_;
  read::YamlMap data_map_;
  read::YamlMap cell_map_;
  read::Layout layout_;
  std::vector<std::unique_ptr<WholeWriter>> whole_;
  std::vector<PairOutcome> outcomes_;
  std::vector<std::string> analyses_;  // as summary_.pairs
  Summary summary_;
};

}  // namespace

Summary run(const Options& options, Progress* progress) { return Run(options, progress).run(); }

}  // namespace msprobe::compare

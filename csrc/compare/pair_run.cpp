// SPDX-License-Identifier: Apache-2.0
// Reads both sides at once, matches, then makes blocks of rows on all threads and writes them in order.
#include "compare/pair_run.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "compare/block.h"
#include "compare/chance.h"
#include "compare/diff_json.h"
#include "compare/divergence_input.h"
#include "compare/match.h"
#include "compare/worst_rows.h"
#include "format/fields.h"
#include "read/dump_reader.h"

namespace msprobe::compare {
namespace {

constexpr std::size_t kBlockRows = 4096;
constexpr std::size_t kTensorBlockRows = 8;  // each may take long
constexpr double kReadingShare = 0.5;        // of the time a pair takes
constexpr std::string_view kTensorFolder = "dump_tensor_data";

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

Mode mode_of(const read::DumpModel& target, const read::DumpModel& golden) {
  for (const read::DumpModel* model : {&target, &golden}) {
    if (model->task != field::kTaskStatistics && model->task != field::kTaskTensor) {
      fail("'", model->path, "' has the task '", model->task, "': compare reads dumps of the tasks '", field::kTaskStatistics,
           "' and '", field::kTaskTensor, "'. Take the dump with one of these.");
    }
  }
  if (target.task != golden.task) {
    fail("'", target.path, "' has the task '", target.task, "' and '", golden.path, "' the task '", golden.task,
         "': both must be of one task. Take one of the dumps again.");
  }
  if (target.task == field::kTaskTensor) {
    return Mode::kTensor;
  }
  if (target.has_md5 != golden.has_md5) {
    fail("'", target.has_md5 ? target.path : golden.path, "' has checksums (md5) and '",
         target.has_md5 ? golden.path : target.path, "' has none: take both dumps with the same summary mode.");
  }
  return target.has_md5 ? Mode::kMd5 : Mode::kStatistics;
}

// Where blocks begin: behind about `size` rows, never inside an op.
std::vector<std::size_t> block_starts(const read::DumpModel& target, const std::vector<RowPair>& rows, std::size_t size) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t row = 1; row < rows.size(); ++row) {
    if (row - starts.back() < size) {
      continue;
    }
    const bool same_op = rows[row].of_target && rows[row - 1].of_target &&
                         target.leaves[rows[row].target].op == target.leaves[rows[row - 1].target].op;
    if (!same_op) {
      starts.push_back(row);
    }
  }
  starts.push_back(rows.size());
  return starts;
}

class PairRun {
 public:
  explicit PairRun(const PairRequest& request) : request_(request), options_(*request.options) {}

  PairOutcome run() {
    describe();
    try {
      read_sides();
    } catch (const FileError& error) {
      fail(error.what());  // of this pair alone; one that concerns the output stops all
    }
    PairSummary& summary = outcome_.summary;
    summary.mode = mode_of(target_, golden_);
    if (target_.ops.empty() || golden_.ops.empty()) {
      summary.warnings.push_back("'" + (target_.ops.empty() ? target_.path : golden_.path) +
                                 "' holds no entries: there is nothing to compare, and no table was written");
      return std::move(outcome_);
    }
    match_rows();
    if (!target_has_grad_ && golden_has_grad_) {
      warn_of_grad("target", "golden");
    } else if (target_has_grad_ && !golden_has_grad_) {
      warn_of_grad("golden", "target");
    }
    write_tables();
    if (summary.mode != Mode::kMd5) {
      find_divergence();
    }
    analyse();
    return std::move(outcome_);
  }

 private:
  void describe() {
    const read::DumpPlace& place = request_.pair->target;
    PairSummary& summary = outcome_.summary;
    summary.step = place.step;
    summary.label = place.label();
    if (place.kind == read::FolderKind::kRank || place.kind == read::FolderKind::kNone) {
      summary.rank = place.number;
    }
    summary.target_path = place.path;
    summary.golden_path = request_.pair->golden.path;
    title_ = (summary.step ? "step " + std::to_string(*summary.step) + " " : std::string{}) + summary.label;
    title_ += title_.empty() ? "" : ": ";
  }

  void read_sides() {
    const std::array<std::string, 2> paths = {outcome_.summary.target_path, outcome_.summary.golden_path};
    const std::array<std::uint64_t, 2> sizes = {read::file_size(paths[0]), read::file_size(paths[1])};
    const double whole = static_cast<double>(std::max<std::uint64_t>(1, sizes[0] + sizes[1]));
    const std::string what = title_ + "reading";
    std::array<read::DumpModel*, 2> models = {&target_, &golden_};
    parallel_ranges(2, 1, std::min(2, request_.threads), [&](std::size_t side, std::size_t /*end*/) {
      *models[side] = read::read_dump(paths[side], [&](std::uint64_t bytes) {
        request_.tracker->add(kReadingShare * static_cast<double>(bytes) / whole, what);
      });
    });
    if (const std::string stack = read::beside(paths[0], "stack.json"); !stack.empty()) {
      stack_ = std::make_unique<read::StackMap>(read::read_stack(stack));
    }
    const auto has_grad = [](const read::DumpModel& model) {
      return std::any_of(model.leaves.begin(), model.leaves.end(),
                         [](const read::Leaf& leaf) { return leaf.requires_grad != read::RequiresGrad::kAbsent; });
    };
    target_has_grad_ = has_grad(target_);
    golden_has_grad_ = has_grad(golden_);
  }

  void warn_of_grad(std::string_view without, std::string_view with) {
    std::string text(without);
    text += " records no requires_grad at all, ";
    text += with;
    outcome_.summary.warnings.push_back(text + " does: the rule on requires_grad is left aside");
  }

  void match_rows() {
    MatchOptions options;
    options.fuzzy = options_.fuzzy;
    options.data_map = request_.data_map;
    options.cell_mapping = options_.cell_mapping;
    options.cell_map = request_.cell_map;
    options.threads = request_.threads;
    Matching matching = match(target_, golden_, options);
    rows_ = std::move(matching.rows);
    std::vector<std::string>& warnings = outcome_.summary.warnings;
    if (options.data_map != nullptr && (options.fuzzy || options.cell_mapping)) {
      warnings.emplace_back("-dm was given: rows are matched by it and by equal names, and -fm and -cm are left aside");
    } else if (options.fuzzy && options.cell_mapping) {
      warnings.emplace_back("-fm was given: rows are matched by it, and -cm is left aside");
    }
    warnings.insert(warnings.end(), matching.warnings.begin(), matching.warnings.end());
    if (std::none_of(rows_.begin(), rows_.end(), is_matched)) {
      warnings.emplace_back(
          "no row of target has a partner in golden: are these dumps of one model? Names must be equal, or be told to "
          "belong together (-fm, -dm, -cm)");
    }
  }

  void write_tables() {
    comparison_.table = table_info(outcome_.summary.mode, stack_ != nullptr);
    comparison_.table.rank = outcome_.summary.rank;
    comparison_.table.step = outcome_.summary.step;
    if (request_.pair->target.kind == read::FolderKind::kPid) {
      comparison_.table.pid = request_.pair->target.number;
    }
    comparison_.table.target_path = target_.path;
    comparison_.table.golden_path = golden_.path;
    comparison_.target = &target_;
    comparison_.golden = &golden_;
    comparison_.target_dtypes = divergence::dtypes_of(target_);
    comparison_.golden_dtypes = divergence::dtypes_of(golden_);
    comparison_.by_chance = paired_by_chance(target_, golden_);
    comparison_.stack = stack_.get();
    comparison_.judges_grad = target_has_grad_ == golden_has_grad_;
    comparison_.target_tensors = folder_of(target_.path) + "/" + std::string(kTensorFolder);
    comparison_.golden_tensors = folder_of(golden_.path) + "/" + std::string(kTensorFolder);
    comparison_.tolerance = options_.tolerance;
    const bool tensors = outcome_.summary.mode == Mode::kTensor;
    if (tensors && rows_.size() < static_cast<std::size_t>(request_.threads)) {
      comparison_.threads_a_tensor = request_.threads;
    }
    columns_ = column_ids(outcome_.summary.mode, stack_ != nullptr);

    std::vector<std::unique_ptr<TableWriter>> writers;
    writers.reserve(options_.formats.size() + request_.whole.size());
    for (const OutputFormat& format : options_.formats) {
      writers.push_back(format.make(comparison_.table, request_.stem + format.extension));
    }
    for (WholeWriter* const whole : request_.whole) {
      writers.push_back(whole->table(comparison_.table));
    }
    std::unique_ptr<DiffJson> json;
    if (options_.diff_analyze) {
      json = std::make_unique<DiffJson>(request_.stem + ".json");
    }

    const std::vector<std::size_t> starts = block_starts(target_, rows_, tensors ? kTensorBlockRows : kBlockRows);
    struct Slot {
      std::unique_ptr<ComparedBlock> block;
      std::vector<std::unique_ptr<EncodedBlock>> encoded;
      std::string json;
    };
    std::vector<Slot> slots(ahead(request_.threads));
    const std::string what = title_ + (tensors ? "comparing tensors" : "writing");
    parallel_in_order(
        starts.size() - 1, request_.threads,
        [&](std::size_t index) {
          Slot& slot = slots[index % slots.size()];
          if (slot.block == nullptr) {
            slot.block = std::make_unique<ComparedBlock>(comparison_, columns_);
          }
          slot.block->judge(std::span(rows_).subspan(starts[index], starts[index + 1] - starts[index]));
          slot.encoded.clear();
          for (const std::unique_ptr<TableWriter>& writer : writers) {
            slot.encoded.push_back(writer->encode(*slot.block));
          }
          if (json != nullptr) {
            slot.json = DiffJson::encode(comparison_, *slot.block);
          }
        },
        [&](std::size_t index) {
          Slot& slot = slots[index % slots.size()];
          count(*slot.block, starts[index]);
          for (std::size_t i = 0; i < writers.size(); ++i) {
            writers[i]->append(std::move(slot.encoded[i]));
          }
          if (json != nullptr) {
            json->append(slot.json);
          }
          const double rows = static_cast<double>(starts[index + 1] - starts[index]);
          request_.tracker->add((1 - kReadingShare) * rows / static_cast<double>(rows_.size()), what);
        });
    for (const std::unique_ptr<TableWriter>& writer : writers) {
      if (std::string file = writer->finish(); !file.empty()) {
        outcome_.summary.files.push_back(std::move(file));
      }
    }
    if (json != nullptr) {
      outcome_.summary.files.push_back(json->finish());
    }
  }

  // In the order of the table, one thread at a time.
  void count(const ComparedBlock& block, std::size_t first_row) {
    PairSummary& summary = outcome_.summary;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const JudgedRow& row = block.row(i);
      ++summary.counts[static_cast<std::size_t>(row.result)];
      keep_worst(outcome_.worst, comparison_, block, i, first_row + i);
      const bool of_target = row.pair.of_target;
      if (options_.diff_analyze && !first_differing_ && of_target && differs(comparison_, row)) {
        first_differing_ = comparison_.target_leaf(row.pair).op;
      }
      if (!is_matched(row.pair)) {
        continue;
      }
      ++summary.rows_matched;
      summary.fuzzy_matches += row.pair.state == MatchState::kFuzzy ? 1 : 0;
      if (row.norm > summary.largest_relative_error && row.norm < std::numeric_limits<float>::infinity() &&
          !comparison_.is_by_chance(row.pair)) {
        summary.largest_relative_error = row.norm;
        summary.largest_relative_error_at.clear();
        target_.append_row_name(summary.largest_relative_error_at, comparison_.target_leaf(row.pair));
      }
      if (summary.mode != Mode::kMd5) {
        const TensorMetrics* const metrics = block.metrics(row);
        const float relative_l2 =
            metrics != nullptr && metrics->relative_l2 ? static_cast<float>(*metrics->relative_l2) : -1.0F;
        pairs_.push_back({row.pair.target, row.pair.golden, relative_l2});
      }
    }
  }

  void find_divergence() {
    rows_ = {};
    const divergence::Input input = divergence::make_input(target_, golden_, pairs_, request_.threads);
    pairs_ = {};
    outcome_.summary.divergence = divergence::find(input, {.hints = options_.hints});
  }

  void analyse() {
    if (!options_.diff_analyze) {
      return;
    }
    const divergence::Verdict* const verdict = outcome_.summary.divergence ? &*outcome_.summary.divergence : nullptr;
    std::optional<std::uint32_t> op = first_differing_;
    if (verdict != nullptr && verdict->first() != nullptr) {
      const std::string& name = verdict->first()->call;
      const auto found = std::find_if(target_.ops.begin(), target_.ops.end(),
                                      [&](const read::Op& other) { return target_.text(other.name) == name; });
      op = found == target_.ops.end() ? op : static_cast<std::uint32_t>(found - target_.ops.begin());
    }
    outcome_.analysis = analysis_json(comparison_, op, verdict);
  }

  const PairRequest& request_;
  const Options& options_;
  PairOutcome outcome_;
  std::string title_;  // of progress
  read::DumpModel target_;
  read::DumpModel golden_;
  bool target_has_grad_ = false;
  bool golden_has_grad_ = false;
  std::unique_ptr<read::StackMap> stack_;
  std::vector<RowPair> rows_;
  std::vector<divergence::LeafPair> pairs_;
  std::vector<ColumnId> columns_;
  Comparison comparison_;
  std::optional<std::uint32_t> first_differing_;  // op of target
};

}  // namespace

void Tracker::add(double share_of_pair, const std::string& what) {
  if (progress_ == nullptr) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  done_ = std::min(1.0, done_ + share_of_pair / static_cast<double>(pairs_));
  progress_->update(done_, what);
}

PairOutcome compare_pair(const PairRequest& request) { return PairRun(request).run(); }

}  // namespace msprobe::compare

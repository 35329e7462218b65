// SPDX-License-Identifier: Apache-2.0
// Collects the tables of all pairs, then writes them with what was found into a page.
#include "report/page.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/divergence_text.h"
#include "compare/rules.h"
#include "format/dtype.h"
#include "report/json_text.h"
#include "report/page_columns.h"
#include "report/page_description.h"
#include "report/page_file.h"
#include "report/page_rows.h"
#include "report/summary_json.h"

namespace msprobe::report {
namespace {

// A row that the page leads to.
struct RowPlace {
  std::uint64_t place = 0;  // in the whole table
  std::string name;
};

// What is told of all rows, whether the page carries them or not.
struct Told {
  std::uint64_t dtype_alone = 0;        // errors for nothing but the dtypes
  std::optional<RowPlace> first_error;  // in the order of the table
};

class Rows : public compare::EncodedBlock {
 public:
  explicit Rows(PageRows rows) : rows(std::move(rows)) {}
  PageRows rows;
  Told told;
};

// The rows of one pair, as far as they have a place.
struct Table {
  std::string packed;
  std::size_t rows = 0;      // that are in it
  std::uint64_t of_all = 0;  // that there were
  Told told;
};

Told tell(const compare::RowBlock& block) {
  static const std::string dtype_alone = "[\"" + std::string(compare::fixed_text(compare::Rule::kDtype)) + "\"]";
  const compare::TableInfo& table = block.table();
  Told told;
  compare::Scratch scratch;
  for (std::size_t row = 0; row < block.size(); ++row) {
    if (block.result(row) != compare::Result::kError) {
      continue;
    }
    told.dtype_alone += block.cell(row, table.message_column, scratch).text == dtype_alone ? 1 : 0;
    if (!told.first_error) {
      told.first_error = RowPlace{row, std::string(block.cell(row, table.name_column, scratch).text)};
    }
  }
  return told;
}

class Collector {
 public:
  void add(const std::string& target_path, Table table) {
    const std::scoped_lock lock(mutex_);
    tables_[target_path] = std::move(table);
  }
  Table take(const std::string& target_path) { return std::move(tables_[target_path]); }

 private:
  std::mutex mutex_;
  std::map<std::string, Table> tables_;  // by the target's path: no two pairs have one
};

class TableOfPage : public compare::TableWriter {
 public:
  TableOfPage(Collector& collector, const compare::TableInfo& table)
      : collector_(collector), target_path_(table.target_path), columns_(page_columns(table)), rows_(columns_) {}

  [[nodiscard]] std::unique_ptr<compare::EncodedBlock> encode(const compare::RowBlock& block) const override {
    auto rows = std::make_unique<Rows>(page_rows(columns_, block));
    rows->told = tell(block);
    return rows;
  }

  void append(std::unique_ptr<compare::EncodedBlock> block) override {
    Told& told = static_cast<Rows&>(*block).told;
    told_.dtype_alone += told.dtype_alone;
    if (told.first_error && !told_.first_error) {
      told.first_error->place += all_;
      told_.first_error = std::move(told.first_error);
    }
    PageRows& rows = static_cast<Rows&>(*block).rows;
    rows.shift_places(all_);
    all_ += rows.size();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const bool passed = rows.result(row) == compare::Result::kPass;
      if (rows_.size() < (passed ? kPassedPageRows : kPageRows)) {
        rows_.add_row(rows, row);
      }
    }
  }

  std::string finish() override {
    collector_.add(target_path_, {rows_.packed(), rows_.size(), all_, std::move(told_)});
    return {};
  }

 private:
  Collector& collector_;
  std::string target_path_;
  std::vector<PageColumn> columns_;
  PageRows rows_;
  std::uint64_t all_ = 0;
  Told told_;
};

class Page : public compare::WholeWriter {
 public:
  explicit Page(const std::string& path) : file_(path) {}

  std::unique_ptr<compare::TableWriter> table(const compare::TableInfo& info) override {
    return std::make_unique<TableOfPage>(collector_, info);
  }

  std::string finish(const compare::Summary& summary) override {
    std::vector<Table> tables;
    tables.reserve(summary.pairs.size());
    for (const compare::PairSummary& pair : summary.pairs) {
      tables.push_back(collector_.take(pair.target_path));
    }
    leave_out(summary, tables);
    file_.write_description(description(summary, tables));
    for (const Table& table : tables) {
      file_.write_table(table.packed);
    }
    return file_.finish();
  }

 private:
  // Pairs that part have the first claim, then those of lower steps and ranks.
  static void leave_out(const compare::Summary& summary, std::vector<Table>& tables) {
    std::vector<std::size_t> order(tables.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_partition(order.begin(), order.end(), [&](std::size_t index) {
      const auto& divergence = summary.pairs[index].divergence;
      return divergence && divergence->first() != nullptr;
    });
    std::size_t rows = 0;
    for (const std::size_t index : order) {
      Table& table = tables[index];
      if (rows + table.rows > kPageRows) {
        table.packed.clear();
        table.rows = 0;
      }
      rows += table.rows;
    }
  }

  static std::string description(const compare::Summary& summary, const std::vector<Table>& tables) {
    JsonText json;
    json.open('{');
    begin_description(json, "compare");
    json.key("summary");
    json.raw(summary_json(summary));
    json.key("across_ranks");
    json.open('[');
    for (const compare::RankOrder& order : summary.ranks) {
      json.open('{');
      json.key("step");
      json.integer(order.step);
      json.key("label");
      json.text(order.label);
      json.key("sentence");
      json.text(order.sentence);
      json.key("any_collective");
      json.raw(order.found.any_collective ? "true" : "false");
      json.key("found");
      std::string found;
      compare::divergence::append_json(found, order.found);
      json.raw(found);
      json.close('}');
    }
    json.close(']');
    json.key("tables");
    json.open('[');
    for (std::size_t i = 0; i < tables.size(); ++i) {
      table(json, summary.pairs[i], tables[i]);
    }
    json.close(']');
    json.close('}');
    return json.take();
  }

  static void table(JsonText& json, const compare::PairSummary& pair, const Table& table) {
    json.open('{');
    append_table_size(json, table.rows, table.of_all);
    json.key("times");
    json.texts({time_of_file(pair.target_path), time_of_file(pair.golden_path)});
    json.key("verdict");
    std::string verdict = "null";
    if (pair.divergence) {
      verdict.clear();
      compare::divergence::append_json(verdict, *pair.divergence);
    }
    json.raw(verdict);
    json.key("dtypes");
    if (pair.divergence) {
      json.texts(
          {std::string(dtype_name(pair.divergence->target_type)), std::string(dtype_name(pair.divergence->golden_type))});
    } else {
      json.texts({});
    }
    json.key("chain");
    json.texts(pair.divergence ? compare::divergence::chain(*pair.divergence) : std::vector<std::string>{});
    json.key("largest_at");  // of the pair's largest relative error
    json.text(pair.largest_relative_error_at);
    json.key("dtype_alone");
    json.integer(static_cast<std::int64_t>(table.told.dtype_alone));
    json.key("first_error");
    if (table.told.first_error) {
      json.open('{');
      json.key("place");
      json.integer(static_cast<std::int64_t>(table.told.first_error->place));
      json.key("name");
      json.text(table.told.first_error->name);
      json.close('}');
    } else {
      json.raw("null");
    }
    json.close('}');
  }

  PageFile file_;
  Collector collector_;
};

}  // namespace

std::unique_ptr<compare::WholeWriter> page_writer(const std::string& path) { return std::make_unique<Page>(path); }

}  // namespace msprobe::report

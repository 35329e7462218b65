// SPDX-License-Identifier: Apache-2.0
// Any bytes as a dump.json, as a stack.json and as a map of names: read or refused, and what was read can be compared with itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/block.h"
#include "compare/match.h"
#include "compare/row_names.h"
#include "read/dump_reader.h"
#include "read/yaml_map.h"

namespace {

using namespace msprobe;  // NOLINT(google-build-using-namespace): a program of one file

void must(bool holds, std::string_view what) {
  if (!holds) {
    std::cerr << what << '\n';
    std::abort();
  }
}

// A small JSON grammar steered by bytes, so that inputs reach what lies behind the parser. About half of them are dumps.
class Grammar {
 public:
  Grammar(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::string dump() {
    std::string text = R"({"task": "statistics", "data": )";
    value(text, 0);
    return text + "}";
  }

 private:
  unsigned next() {
    if (size_ == 0) {
      return 0;
    }
    --size_;
    return *data_++;
  }

  void value(std::string& out, int depth) {  // NOLINT(misc-no-recursion): bounded by depth
    static constexpr const char* kScalars[] = {
        "null", "true",  "false", "0",       "-0.0",   "1.5",      "NaN",     "-Infinity",
        "7",    "1e300", "\"\"",  "\"abc\"", "\"=x\"", "\"-inf\"", "\"1.5\"", "18446744073709551615"};
    static constexpr const char* kKeys[] = {"A.0.forward",   "B.1.backward", "M.l.parameters_grad",
                                            "odd",           "input_args",   "input_kwargs",
                                            "input",         "output",       "parameters",
                                            "Order",         "first",        "type",
                                            "dtype",         "shape",        "Max",
                                            "Min",           "Mean",         "Norm",
                                            "requires_grad", "md5",          "data_name",
                                            "value",         "group_ranks",  "Special",
                                            "Counts",        "Note",         "nan",
                                            "tensor",        "src",          "x",
                                            "B.2.backward",  "M.C.forward.0"};
    static constexpr const char* kTypes[] = {
        "\"torch.Tensor\"",       "\"torch.float32\"",           "\"torch.Size\"", "\"slice\"",
        "\"torch.ProcessGroup\"", "\"torch.distributed.P2POp\"", "\"pos_inf\"",    "\"ellipsis\""};
    const unsigned kind = next() % 8;
    if (depth > 8 || size_ == 0 || (depth > 0 && kind < 2)) {
      out += kScalars[next() % std::size(kScalars)];
    } else if (depth > 0 && kind == 2) {
      out += kTypes[next() % std::size(kTypes)];
    } else {
      const bool object = depth == 0 || kind > 4;
      out += object ? '{' : '[';
      for (unsigned i = 0, count = next() % 6; i < count; ++i) {
        out += i == 0 ? "" : ", ";
        if (object) {
          out += '"';
          out += kKeys[next() % std::size(kKeys)];
          out += "\": ";
        }
        value(out, depth + 1);
      }
      out += object ? '}' : ']';
    }
  }

  const std::uint8_t* data_;
  std::size_t size_;
};

void check_model(const read::DumpModel& model) {
  compare::Comparison comparison;
  comparison.table = compare::table_info(model.has_md5 ? compare::Mode::kMd5 : compare::Mode::kStatistics, false);
  comparison.target = &model;
  comparison.golden = &model;
  const std::vector<compare::ColumnId> columns = compare::column_ids(comparison.table.mode, false);
  for (const bool fuzzy : {false, true}) {
    compare::MatchOptions options;
    options.fuzzy = fuzzy;
    const compare::Matching matching = compare::match(model, model, options);
    std::vector<bool> matched(model.leaves.size());
    for (const compare::RowPair& row : matching.rows) {
      must(row.of_target ? row.target < model.leaves.size() : row.golden < model.leaves.size(), "a row of nothing");
      if (compare::is_matched(row)) {
        matched[row.target] = true;
      }
    }
    const bool crowded = !matching.warnings.empty();  // more rows of one name than can be partners
    for (const bool one : matched) {
      must(one || fuzzy || crowded, "a row of a dump does not match itself");
    }
    compare::ComparedBlock block(comparison, columns);
    block.judge(matching.rows);
    compare::Scratch scratch;
    for (std::size_t row = 0; row < block.size(); ++row) {
      for (std::size_t column = 0; column < columns.size(); ++column) {
        must(block.cell(row, column, scratch).kind <= compare::CellKind::kInteger, "a cell of no kind");
      }
    }
  }
}

template <class Read>
void read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    must(!std::string_view(error.what()).empty(), "an error without a message");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_or_refuse([&] { check_model(read::parse_dump(bytes, "fuzz")); });
  read_or_refuse([&] { check_model(read::parse_dump(Grammar(data, size).dump(), "fuzz")); });
  read_or_refuse([&] {
    const read::YamlMap map = read::parse_yaml_map(bytes, "fuzz");
    must(!map.empty(), "an empty map");
    std::string key = "Cell.a.b.forward.0.output.0";
    compare::apply_cell_map(key, map);
  });
  return 0;
}

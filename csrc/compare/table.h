// SPDX-License-Identifier: Apache-2.0
// The table that a comparison of two dumps is: columns, cells, blocks of rows, and the writers that take them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/dump_model.h"

namespace msprobe::compare {

// What is compared: the four statistics, checksums, or saved tensors.
enum class Mode : std::uint8_t { kStatistics, kMd5, kTensor };

// In order of weight, so that the worst of several is their maximum; kUnmatched stands for itself.
enum class Result : std::uint8_t { kPass, kWarning, kError, kUnmatched };
std::string_view result_name(Result result) noexcept;  // "pass", "warning", "error", "unmatched"

enum class ColumnType : std::uint8_t {
  kText,
  kNumber,   // a number, or a word in its place: N/A, Nan, inf, None, unsupported, ...
  kPercent,  // the same; a number is in percent, its text ends with '%'
};

struct Column {
  std::string_view name;  // static memory
  ColumnType type = ColumnType::kText;
};

enum class CellKind : std::uint8_t {
  kText,     // only `text`: no number stands here
  kReal,     // `real`, which may be NaN or infinite
  kInteger,  // `integer` (and `real`, rounded)
};

struct Cell {
  CellKind kind = CellKind::kText;
  std::string_view text;  // what a text table shows, before quoting; UTF-8 as far as the input was
  double real = 0;        // of a kPercent column: the number before '%'
  std::int64_t integer = 0;
};

// How far the two sides of a row are apart by the measure of "where it starts" (E, divergence.h).
enum class DistanceKind : std::uint8_t {
  kNone,     // nothing can be said: no partner, no tensor, no numbers, a mask
  kNumber,   // E, which is 0 for integers that are the same
  kHard,     // another shape, another kind of number, golden all zero
  kDiffers,  // integers and truth values that differ: a choice, or a fault
  kChance,   // an operator whose partner need not be the same call (chance.h)
};
struct Distance {
  DistanceKind kind = DistanceKind::kNone;
  double value = 0;  // of kNumber
};

// Where the texts of cells live. One a thread; a cell's text is valid until the next cell() with the same Scratch.
class Scratch {
 public:
  std::string text;
};

// What one output file is a comparison of. `rank`, `step` and `pid` are there where the folders named them.
struct TableInfo {
  Mode mode = Mode::kStatistics;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> pid;
  std::string target_path;
  std::string golden_path;
  std::vector<Column> columns;
  std::size_t name_column = 0;     // of the target's row name
  std::size_t result_column = 0;   // "Result"
  std::size_t message_column = 0;  // "Err_message"
};

// Up to some thousand rows in the order of the table (more if one op alone has more). Immutable, so any thread may read it.
class RowBlock {
 public:
  RowBlock() = default;
  RowBlock(const RowBlock&) = delete;
  RowBlock& operator=(const RowBlock&) = delete;
  virtual ~RowBlock() = default;

  [[nodiscard]] virtual const TableInfo& table() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;  // rows
  [[nodiscard]] virtual Result result(std::size_t row) const = 0;
  virtual Cell cell(std::size_t row, std::size_t column, Scratch& scratch) const = 0;
  // How many of its elements are NaN, infinite, zero; null where the side has no such row or did not count.
  [[nodiscard]] virtual const read::Counts* special_values(std::size_t row, bool of_target) const = 0;
  [[nodiscard]] virtual Distance distance(std::size_t row) const = 0;
  // When the target saw the tensor, by its dump's `Order`: an input when its call began, an output when it ended; -1 if it does not say.
  [[nodiscard]] virtual std::int64_t moment(std::size_t row) const = 0;
};

// A block in the form in which its writer appends it; each writer derives its own.
class EncodedBlock {
 public:
  EncodedBlock() = default;
  EncodedBlock(const EncodedBlock&) = delete;
  EncodedBlock& operator=(const EncodedBlock&) = delete;
  virtual ~EncodedBlock() = default;
};

// One an output file, or one table of a file that holds several. Nothing is at the file's place before finish(); a writer destroyed before
// leaves nothing behind.
class TableWriter {
 public:
  TableWriter() = default;
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;
  virtual ~TableWriter() = default;

  [[nodiscard]] virtual std::unique_ptr<EncodedBlock> encode(const RowBlock& block) const = 0;  // any thread
  virtual void append(std::unique_ptr<EncodedBlock> block) = 0;  // in the order of the table, one thread at a time
  // Puts the file in its place without replacing what may be there (place_new, base/atomic_file.h); returns its path. A table of a
  // file that holds several returns "".
  virtual std::string finish() = 0;
};

// The columns of a table, in order. The optional last ones depend on stack.json (`with_stack`).
std::vector<Column> columns_of(Mode mode, bool with_stack);
TableInfo table_info(Mode mode, bool with_stack);  // columns and their places filled in

}  // namespace msprobe::compare

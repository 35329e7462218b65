// SPDX-License-Identifier: Apache-2.0
// A Parquet file of flat columns: pages, row groups, the footer. It knows nothing of comparisons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"

// The subset: required texts, optional doubles and integers; PLAIN values, levels in runs, one gzip stream a page, version 1 pages.
// Every reader of Parquet takes it.
//
//   "PAR1" | row group | row group | ... | footer (FileMetaData) | its length, 4 bytes | "PAR1"
//             column chunk | column chunk | ...                       one a column
//             page | page | ...                                       one a block of rows
namespace msprobe::report {

inline constexpr std::int32_t kParquetPlain = 0;  // of the format's Encoding: values one behind the other
inline constexpr std::int32_t kParquetRuns = 3;   // runs of equal levels, and runs of bits

enum class ParquetType : std::uint8_t { kText, kDouble, kInteger };

struct ParquetColumn {
  std::string name;
  ParquetType type = ParquetType::kText;
};

// A page with its head, compressed, and what the footer tells of it.
struct ParquetPage {
  std::string bytes;
  std::int64_t uncompressed = 0;  // head and values
  std::int64_t rows = 0;
  std::int64_t nulls = 0;
  // Of integers only: a reader that looks for one rank skips the files of the others.
  std::optional<std::int64_t> smallest;
  std::optional<std::int64_t> largest;
};

// Any thread. A page that exceeds the format's 2 GiB is an Error.
ParquetPage text_page(std::span<const std::string> values);
ParquetPage double_page(std::span<const std::optional<double>> values);
ParquetPage integer_page(std::span<const std::optional<std::int64_t>> values);

// One thread at a time.
class ParquetFile {
 public:
  ParquetFile(const std::string& path, std::vector<ParquetColumn> columns,
              std::vector<std::pair<std::string, std::string>> metadata);
  void append(std::vector<ParquetPage> pages);  // one a column, all of the same number of rows
  std::string finish();                         // puts the file in its place; returns its path

 private:
  struct Chunk {  // a column's part of a row group
    std::int64_t offset = 0;
    std::int64_t compressed = 0;
    ParquetPage total;  // of its pages, without their bytes
  };
  struct Group {
    std::int64_t offset = 0;
    std::int64_t rows = 0;
    std::vector<Chunk> chunks;
  };

  void write(std::string_view bytes);
  void end_group();
  [[nodiscard]] std::string footer() const;

  AtomicFile file_;
  std::vector<ParquetColumn> columns_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<std::vector<ParquetPage>> pending_;  // the open row group, by column
  std::int64_t pending_rows_ = 0;
  std::int64_t offset_ = 0;
  std::vector<Group> groups_;
};

}  // namespace msprobe::report

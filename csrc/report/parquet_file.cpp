// SPDX-License-Identifier: Apache-2.0
// Row groups and the footer of a Parquet file. The numbers of fields are those of parquet.thrift.
#include "report/parquet_file.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "report/thrift_compact.h"

namespace msprobe::report {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::int64_t kGroupRows = 131072;  // as other writers do: fewer make a large footer, more hold more memory
constexpr std::int32_t kVersion = 2;
constexpr std::int32_t kGzip = 2;  // CompressionCodec
constexpr std::int32_t kUtf8 = 0;  // ConvertedType

std::int32_t physical_type(ParquetType type) {
  switch (type) {
    case ParquetType::kInteger:
      return 2;
    case ParquetType::kDouble:
      return 5;
    case ParquetType::kText:
      return 6;
  }
  return 6;
}

void write_schema_column(ThriftWriter& out, const ParquetColumn& column) {
  const bool text = column.type == ParquetType::kText;
  out.begin_struct();  // SchemaElement
  out.i32(1, physical_type(column.type));
  out.i32(3, text ? 0 : 1);  // REQUIRED, OPTIONAL
  out.binary(4, column.name);
  if (text) {
    out.i32(6, kUtf8);
    out.begin_struct(10);  // LogicalType
    out.empty_struct(1);   // STRING
    out.end_struct();
  }
  out.end_struct();
}

std::string plain_bytes(std::int64_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

}  // namespace

ParquetFile::ParquetFile(const std::string& path, std::vector<ParquetColumn> columns,
                         std::vector<std::pair<std::string, std::string>> metadata)
    : file_(path), columns_(std::move(columns)), metadata_(std::move(metadata)), pending_(columns_.size()) {
  write(kMagic);
}

void ParquetFile::write(std::string_view bytes) {
  file_.write(bytes);
  offset_ += static_cast<std::int64_t>(bytes.size());
}

void ParquetFile::append(std::vector<ParquetPage> pages) {
  assert(pages.size() == columns_.size());
  pending_rows_ += pages.front().rows;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    pending_[i].push_back(std::move(pages[i]));
  }
  if (pending_rows_ >= kGroupRows) {
    end_group();
  }
}

void ParquetFile::end_group() {
  Group group{offset_, std::exchange(pending_rows_, 0), {}};
  for (std::vector<ParquetPage>& pages : pending_) {
    Chunk& chunk = group.chunks.emplace_back();
    chunk.offset = offset_;
    for (const ParquetPage& page : pages) {
      chunk.compressed += static_cast<std::int64_t>(page.bytes.size());
      chunk.total.uncompressed += page.uncompressed;
      chunk.total.rows += page.rows;
      chunk.total.nulls += page.nulls;
      if (page.smallest && page.largest) {
        chunk.total.smallest = std::min(chunk.total.smallest.value_or(*page.smallest), *page.smallest);
        chunk.total.largest = std::max(chunk.total.largest.value_or(*page.largest), *page.largest);
      }
      write(page.bytes);
    }
    pages.clear();
  }
  groups_.push_back(std::move(group));
}

std::string ParquetFile::footer() const {
  std::string bytes;
  ThriftWriter out(bytes);
  const auto write_chunk = [&](const ParquetColumn& column, const Chunk& chunk) {
    out.begin_struct();  // ColumnChunk
    out.i64(2, chunk.offset);
    out.begin_struct(3);  // ColumnMetaData
    out.i32(1, physical_type(column.type));
    out.begin_list(2, ThriftWriter::Type::kI32, 2);
    out.element(kParquetPlain);
    out.element(kParquetRuns);
    out.begin_list(3, ThriftWriter::Type::kBinary, 1);
    out.element(column.name);
    out.i32(4, kGzip);
    out.i64(5, chunk.total.rows);
    out.i64(6, chunk.total.uncompressed);
    out.i64(7, chunk.compressed);
    out.i64(9, chunk.offset);
    out.begin_struct(12);  // Statistics
    out.i64(3, chunk.total.nulls);
    if (chunk.total.smallest && chunk.total.largest) {
      out.binary(5, plain_bytes(*chunk.total.largest));
      out.binary(6, plain_bytes(*chunk.total.smallest));
    }
    out.end_struct();
    out.end_struct();
    out.end_struct();
  };
  const auto write_group = [&](const Group& group) {
    std::int64_t uncompressed = 0;
    std::int64_t compressed = 0;
    for (const Chunk& chunk : group.chunks) {
      uncompressed += chunk.total.uncompressed;
      compressed += chunk.compressed;
    }
    out.begin_struct();  // RowGroup
    out.begin_list(1, ThriftWriter::Type::kStruct, group.chunks.size());
    for (std::size_t i = 0; i < group.chunks.size(); ++i) {
      write_chunk(columns_[i], group.chunks[i]);
    }
    out.i64(2, uncompressed);
    out.i64(3, group.rows);
    out.i64(5, group.offset);
    out.i64(6, compressed);
    out.end_struct();
  };

  std::int64_t rows = 0;
  for (const Group& group : groups_) {
    rows += group.rows;
  }
  out.begin_struct();  // FileMetaData
  out.i32(1, kVersion);
  out.begin_list(2, ThriftWriter::Type::kStruct, columns_.size() + 1);
  out.begin_struct();  // SchemaElement of the whole
  out.binary(4, "schema");
  out.i32(5, static_cast<std::int32_t>(columns_.size()));
  out.end_struct();
  for (const ParquetColumn& column : columns_) {
    write_schema_column(out, column);
  }
  out.i64(3, rows);
  out.begin_list(4, ThriftWriter::Type::kStruct, groups_.size());
  for (const Group& group : groups_) {
    write_group(group);
  }
  out.begin_list(5, ThriftWriter::Type::kStruct, metadata_.size());
  for (const auto& [key, value] : metadata_) {
    out.begin_struct();  // KeyValue
    out.binary(1, key);
    out.binary(2, value);
    out.end_struct();
  }
  out.binary(6, "msprobe");
  out.begin_list(7, ThriftWriter::Type::kStruct, columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out.begin_struct();  // ColumnOrder: by the type; without it, readers ignore smallest and largest
    out.empty_struct(1);
    out.end_struct();
  }
  out.end_struct();
  return bytes;
}

std::string ParquetFile::finish() {
  if (pending_rows_ > 0) {
    end_group();
  }
  const std::string metadata = footer();
  write(metadata);
  std::string length(sizeof(std::uint32_t), '\0');
  const auto size = static_cast<std::uint32_t>(metadata.size());
  std::memcpy(length.data(), &size, sizeof size);
  write(length);
  write(kMagic);
  return file_.commit_new();
}

}  // namespace msprobe::report

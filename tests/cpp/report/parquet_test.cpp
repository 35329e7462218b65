// SPDX-License-Identifier: Apache-2.0
// Parquet's small parts against the bytes of its specification; whole files are read by pyarrow and DuckDB in tests/python/compare.
#include "report/parquet_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "report/parquet.h"
#include "report/table_double.h"
#include "report/thrift_compact.h"

namespace msprobe::report {
namespace {

namespace fs = std::filesystem;

TEST(Thrift, FieldsStructsAndListsAreSpelledAsTheProtocolSays) {
  std::string bytes;
  ThriftWriter out(bytes);
  out.begin_struct();
  out.i32(1, -1);
  out.i64(3, 300);
  out.binary(4, "ab");
  out.begin_struct(5);
  out.i32(2, 1);
  out.end_struct();
  out.begin_list(6, ThriftWriter::Type::kI32, 2);
  out.element(0);
  out.element(-64);
  out.begin_list(7, ThriftWriter::Type::kBinary, 15);
  out.empty_struct(8);
  out.end_struct();
  using namespace std::string_literals;
  EXPECT_EQ(bytes, "\x15\x01"s + "\x26\xd8\x04"s +
                       "\x18\x02"
                       "ab"s +
                       "\x1c\x25\x02\x00"s + "\x19\x25\x00\x7f"s + "\x19\xf8\x0f"s + "\x1c\x00"s + "\x00"s);
}

TEST(Thrift, TheLargestNumbersAreZigzagVarints) {
  std::string bytes;
  ThriftWriter out(bytes);
  out.begin_struct();
  out.i64(1, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(bytes, "\x16\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Pages, CountWhatTheFooterTells) {
  const std::vector<std::optional<std::int64_t>> integers = {5, std::nullopt, -7};
  const ParquetPage page = integer_page(integers);
  EXPECT_EQ(page.rows, 3);
  EXPECT_EQ(page.nulls, 1);
  EXPECT_EQ(page.smallest, -7);
  EXPECT_EQ(page.largest, 5);
  const std::vector<std::optional<double>> none(1000);
  EXPECT_EQ(double_page(none).nulls, 1000);
  EXPECT_FALSE(double_page(none).smallest);
}

class ParquetFiles : public testing::Test {
 protected:
  ParquetFiles() {
    std::string pattern = (fs::temp_directory_path() / "msprobe_parquet_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~ParquetFiles() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] bool folder_is_empty() const { return fs::is_empty(folder_); }

 private:
  fs::path folder_;
};

TEST_F(ParquetFiles, TheSameRowsGiveTheSameBytesAndHaveTheFormatsFrame) {
  const compare::TableInfo table = small_table();
  std::vector<TestRow> rows;
  for (int row = 0; row < 300; ++row) {
    rows.push_back(small_row("Module." + std::to_string(row), real_cell("0.5", 0.5), text_cell("N/A")));
  }
  std::string bytes[2];
  for (std::string& file : bytes) {
    const auto writer = parquet_writer(table, path("a.parquet"));
    std::ostringstream read;
    read << std::ifstream(write_table(*writer, table, rows, 100), std::ios::binary).rdbuf();
    file = read.str();
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  EXPECT_TRUE(bytes[0].starts_with("PAR1"));
  EXPECT_TRUE(bytes[0].ends_with("PAR1"));
}

TEST_F(ParquetFiles, AFileThatIsNotFinishedLeavesNothing) {
  {
    const auto writer = parquet_writer(small_table(), path("a.parquet"));
  }
  EXPECT_TRUE(folder_is_empty());
}

}  // namespace
}  // namespace msprobe::report

// SPDX-License-Identifier: Apache-2.0
// Tables read back: CSV by its grammar, workbooks that our writer made, damaged files.
#include "report/table_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/error.h"
#include "report/table_double.h"
#include "report/workbook.h"
#include "report/xlsx.h"

namespace msprobe::report {
namespace {

namespace fs = std::filesystem;
using Kind = TableCell::Kind;
using Table = std::vector<std::vector<TableCell>>;

class TableReader : public testing::Test {
 protected:
  TableReader() {
    std::string pattern = (fs::temp_directory_path() / "msprobe_table_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~TableReader() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string bytes_of(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
  }
  static Table csv(const std::string& path) {
    Table table;
    read_csv(path, [&](const std::vector<TableCell>& row) { table.push_back(row); });
    return table;
  }
  static Table xlsx(const std::string& path) {
    Table table;
    read_xlsx(path, [&](const std::vector<TableCell>& row) { table.push_back(row); });
    return table;
  }

 private:
  fs::path folder_;
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CellOfText, NumbersPercentagesAndWords) {
  EXPECT_EQ(cell_of_text("").kind, Kind::kEmpty);
  EXPECT_EQ(cell_of_text("1e-05").kind, Kind::kNumber);
  EXPECT_EQ(cell_of_text("1e-05").number, 1e-05);
  EXPECT_EQ(cell_of_text("-3").number, -3);
  EXPECT_EQ(cell_of_text("12.5%").kind, Kind::kFraction);
  EXPECT_EQ(cell_of_text("12.5%").number, 0.125);
  for (const char* word : {"N/A", "Nan", "nan", "inf", " inf", "-inf", "inf%", "True", "1.5x", "%", "0x10", "1,5"}) {
    EXPECT_EQ(cell_of_text(word).kind, Kind::kText) << word;
    EXPECT_EQ(cell_of_text(word).text, word);
  }
}

TEST_F(TableReader, CsvQuotesLineBreaksAndEndings) {
  const Table table = csv(file("a.csv", "name,\"a \"\"b\"\"\"\r\n\"[2, 8]\",\"x\ny\"\n,5\nlast,"));
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(table[0][1].text, "a \"b\"");
  EXPECT_EQ(table[1][0].text, "[2, 8]");
  EXPECT_EQ(table[1][1].text, "x\ny");
  EXPECT_EQ(table[2][0].kind, Kind::kEmpty);
  EXPECT_EQ(table[2][1].number, 5);
  EXPECT_EQ(table[3][0].text, "last");
}

TEST_F(TableReader, CsvHeadIsTextWhateverItHolds) { EXPECT_EQ(csv(file("a.csv", "1,2%\n"))[0][1].text, "2%"); }

TEST_F(TableReader, CsvWithAnOpenQuoteIsAnErrorWithItsByte) {
  const std::string broken = file("a.csv", "a,b\n1,\"cut");
  EXPECT_EQ(error_of([&] { csv(broken); }), "'" + broken + "', byte 6: a quote is not closed; the file is cut off or no CSV");
}

TEST_F(TableReader, CsvRowsAreAsLongAsTheHead) {
  for (const char* end : {"\n3", "\n3,4,5\n", "\n\"3\""}) {
    const std::string cut = file("a.csv", "a,b\n1,2" + std::string(end));
    EXPECT_NE(error_of([&] { csv(cut); }).find("byte 8: a row has "), std::string::npos) << end;
  }
}

TEST_F(TableReader, MissingFilesAreFileErrors) {
  EXPECT_THROW(csv(path("none.csv")), FileError);
  EXPECT_THROW(xlsx(path("none.xlsx")), FileError);
}

TEST_F(TableReader, WorkbookComesBackWithItsTypes) {
  const compare::TableInfo info = small_table();
  const std::vector<TestRow> rows = {
      small_row("Module.模块 <&>\"'", real_cell("0.1", 0.1), real_cell("12.5%", 12.5)),
      small_row("=1+1", text_cell("N/A"), real_cell("Nan", std::nan("")), compare::Result::kError, R"(["error: x"])"),
      small_row("big", integer_cell("9007199254740993", 9007199254740993), integer_cell("0", 0)),
  };
  const auto writer = xlsx_writer(info, path("a.xlsx"));
  const std::string written = write_table(*writer, info, rows);
  EXPECT_EQ(written, path("a.xlsx"));
  const Table table = xlsx(written);
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(table[0][4].text, "Err_message");
  EXPECT_EQ(table[1][0].text, "Module.模块 <&>\"'");
  EXPECT_EQ(table[1][1].kind, Kind::kNumber);
  EXPECT_EQ(table[1][1].number, 0.1);
  EXPECT_EQ(table[1][2].kind, Kind::kFraction);
  EXPECT_EQ(table[1][2].number, 0.125);
  EXPECT_EQ(table[2][0].text, "=1+1");
  EXPECT_EQ(table[2][1].text, "N/A");
  EXPECT_EQ(table[2][2].text, "Nan");
  EXPECT_EQ(table[2][4].text, R"(["error: x"])");
  EXPECT_EQ(table[3][1].text, "9007199254740993");  // a number cell would have changed its last digit
  EXPECT_EQ(table[3][2].kind, Kind::kNumber);
}

TEST_F(TableReader, SheetsFollowEachOtherUnderOneHead) {
  Workbook book(path("a.xlsx"));
  const std::vector<std::string> head = {"name", "value"};
  for (const char* sheet : {"Sheet1", "Sheet2"}) {
    book.begin_sheet(sheet, head, {10, 10});
    book.write_text(0, sheet, Fill::kNone);
    book.write_number(1, 5, Fill::kError);
    book.end_row();
  }
  const Table table = xlsx(book.finish());
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[1][0].text, "Sheet1");
  EXPECT_EQ(table[2][0].text, "Sheet2");
}

TEST_F(TableReader, ALongTextIsCutToWhatACellHolds) {
  Workbook book(path("a.xlsx"));
  book.begin_sheet("Sheet1", {"text"}, {10});
  book.write_text(0, std::string(40000, 'x'), Fill::kNone);
  book.end_row();
  book.write_text(0, std::string("a\0b", 3), Fill::kNone);
  book.end_row();
  const Table table = xlsx(book.finish());
  EXPECT_LE(table[1][0].text.size(), kCellCharacters);
  EXPECT_NE(table[1][0].text.find("(cut: "), std::string::npos);
  EXPECT_EQ(table[2][0].text,
            "a\xEF\xBF\xBD"
            "b");
}

TEST_F(TableReader, AWorkbookThatIsNotFinishedLeavesNothing) {
  {
    Workbook book(path("a.xlsx"));
    book.begin_sheet("Sheet1", {"text"}, {10});
  }
  EXPECT_TRUE(fs::is_empty(fs::path(path("a.xlsx")).parent_path()));
}

TEST_F(TableReader, NothingIsReplaced) {
  file("a.xlsx", "mine");
  Workbook book(path("a.xlsx"));
  book.begin_sheet("Sheet1", {"text"}, {10});
  EXPECT_EQ(book.finish(), path("a_1.xlsx"));
  EXPECT_EQ(bytes_of(path("a.xlsx")), "mine");
}

TEST_F(TableReader, DamagedWorkbooksAreErrorsWhereverTheyAreCutOrChanged) {
  Workbook book(path("a.xlsx"));
  book.begin_sheet("Sheet1", {"name", "value"}, {10, 10});
  for (int row = 0; row < 50; ++row) {
    book.write_text(0, "Module." + std::to_string(row), Fill::kNone);
    book.write_number(1, row * 0.1, Fill::kNone);
    book.end_row();
  }
  const std::string good = bytes_of(book.finish());
  EXPECT_EQ(xlsx(path("a.xlsx")).size(), 51U);
  for (std::size_t size = 0; size < good.size(); size += 97) {
    const std::string cut = file("cut.xlsx", good.substr(0, size));
    EXPECT_THROW(xlsx(cut), Error) << size;
  }
  // A changed byte is an error or harmless (a time, a name in a local head), never a crash.
  for (std::size_t place = 0; place < good.size(); place += 13) {
    std::string changed = good;
    changed[place] = static_cast<char>(changed[place] ^ 0x55);
    const std::string changed_path = file("changed.xlsx", changed);
    try {
      xlsx(changed_path);
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace msprobe::report

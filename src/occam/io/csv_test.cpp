#include "occam/io/csv.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using testing_support::failure_of;
using testing_support::mutated;
using testing_support::TemporaryFolder;
using Strings = std::vector<std::string>;
using Numbers = std::vector<double>;

CsvTable table_of(std::string text, CsvOptions options = {}) {
  return CsvTable(std::move(text), "x.csv", options);
}

std::string csv_failure(const std::string& text, const std::string& column = "a") {
  return failure_of([&] { table_of(text).numbers(column); });
}

// Every cell by the streaming reader, `chunk` bytes (at least 16) in memory at a time, a few bytes per call.
std::vector<Strings> streamed_cells(std::string_view text, std::size_t chunk) {
  const auto source = [text, chunk](std::span<char> out) mutable {
    const std::size_t count = std::min({chunk / 3, out.size(), text.size()});
    text.copy(out.data(), count);
    text.remove_prefix(count);
    return count;
  };
  CsvReader reader(source, "x.csv", {.chunk_bytes = chunk});
  std::vector<Strings> rows = {reader.columns()};
  while (reader.next()) {
    rows.emplace_back();
    for (std::size_t i = 0; i < reader.columns().size(); ++i) rows.back().emplace_back(reader.text(i));
  }
  return rows;
}

std::vector<Strings> table_cells(const CsvTable& table) {
  std::vector<Strings> rows = {table.columns()};
  for (std::size_t r = 0; r < table.rows(); ++r) {
    rows.emplace_back();
    for (std::size_t c = 0; c < table.columns().size(); ++c) rows.back().push_back(table.cell(r, c));
  }
  return rows;
}

TEST(Csv, ReadsNumbersAndTextByName) {
  const CsvTable table = table_of("id,rt,choice\ns1,0.25,1\ns2,-1e3,0\n");
  EXPECT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.columns(), (Strings{"id", "rt", "choice"}));
  EXPECT_EQ(table.numbers("rt"), (Numbers{0.25, -1000}));
  EXPECT_EQ(table.numbers("choice"), (Numbers{1, 0}));
  EXPECT_EQ(table.text("id"), (Strings{"s1", "s2"}));
  EXPECT_EQ(table.column_index("choice"), 2u);
  EXPECT_TRUE(table.has_column("rt"));
  EXPECT_FALSE(table.has_column("RT"));
}

TEST(Csv, TakesEveryUsualForm) {
  const std::vector<Strings> expected = {{"a", "b"}, {"1", "x"}, {"2", "y"}};
  for (const char* text :
       {"a,b\n1,x\n2,y\n", "a,b\n1,x\n2,y", "a,b\r\n1,x\r\n2,y\r\n",
        "\xef\xbb\xbf"
        "a,b\n1,x\n2,y\n",
        "\n\na,b\n1,x\n2,y\n\n\r\n\n", "\"a\",b\n\"1\",\"x\"\r\n2,\"y\"", " a , b\n1,x\n2,y\r"}) {
    EXPECT_EQ(table_cells(table_of(text)), expected) << text;
    EXPECT_EQ(streamed_cells(text, 16), expected) << text;
  }
  EXPECT_EQ(CsvTable("a\tb\n1\t2,5\n", "x.TSV").text("b"), Strings{"2,5"});
  EXPECT_EQ(table_of("a;b\n1;2\n", {.format = {.separator = "semicolon"}}).numbers("b"), Numbers{2});
  EXPECT_EQ(table_of("a,b,,\n1,2,,\n").numbers("b"), Numbers{2});
}

TEST(Csv, UnderstandsQuotes) {
  const CsvTable table = table_of("a,\"b \"\"c\"\"\"\n\"x,\n\"\"y\"\"\",1\nit\"s,2\n\"\",3\n");
  EXPECT_EQ(table.columns()[1], "b \"c\"");
  EXPECT_EQ(table.text("a"), (Strings{"x,\n\"y\"", "it\"s", ""}));
  EXPECT_EQ(table.numbers("b \"c\""), (Numbers{1, 2, 3}));
  EXPECT_EQ(table.line(0), 2u);
  EXPECT_EQ(table.line(1), 4u);
  EXPECT_EQ(table.line(2), 5u);
}

// A file may begin with a byte order mark, a line that names the separator, or be something else altogether.
TEST(Csv, ColumnsThatLookLikeTheBeginningOfAnotherFileAreReadBack) {
  for (const char* name :
       {"\xef\xbb\xbfx", "sep=;", "PK\x03\x04", "\x1f\x8b", "\xff\xfe", "\xfe\xff", "\x93NUMPY"}) {
    std::string text;
    CsvWriter writer([&](std::string_view bytes) { text += bytes; }, {name, "b"});
    writer.cell("1").cell("2").end_row();
    EXPECT_EQ(table_of(text.c_str()).text("b"), Strings{"2"}) << text;
  }
}

TEST(Csv, ParsesNumbersExactly) {
  const CsvTable table =
      table_of("a\n0.1\n+2\n 3 \n1e-320\n1e-400\n-0\n9007199254740993\n.5\n5.\n\"7\"\n1E2\n");
  EXPECT_EQ(table.numbers("a"), (Numbers{0.1, 2, 3, 1e-320, 0, -0.0, 9007199254740992, .5, 5, 7, 100}));
}

// Against strtod, over lengths on both sides of the quick way for short decimals.
TEST(Csv, ParsesRandomDecimalsCorrectly) {
  std::mt19937 random(3);
  std::string text = "a\n";
  Numbers expected;
  for (int i = 0; i < 20000; ++i) {
    std::string cell = random() % 2 == 0 ? "-" : "";
    const std::size_t length = 1 + random() % 18;
    const std::size_t point = random() % 20;
    for (std::size_t k = 0; k < length; ++k) {
      if (k == point) cell += '.';
      cell += static_cast<char>('0' + random() % 10);
    }
    if (random() % 8 == 0) cell += "e-" + std::to_string(random() % 30);
    text += cell + '\n';
    expected.push_back(std::strtod(cell.c_str(), nullptr));
  }
  EXPECT_EQ(table_of(text).numbers("a"), expected);
  for (const char* bad : {".", "-.", "1.2.3", "-", "--1", "1 2", "0x10", "1_000"}) {
    EXPECT_NE(csv_failure(std::string("a\n") + bad + "\n"), "no error") << bad;
  }
}

// As long as nobody asks for one of them.
TEST(Csv, ColumnsOfTheSameNameMayStandBeside) {
  EXPECT_EQ(table_of("a,note,note\n1,x,y\n").numbers("a"), Numbers{1});
  EXPECT_EQ(csv_failure("a,note,note\n1,2,3\n", "note"), "65: x.csv:1: two columns are named 'note'");
  const std::string text = "a,note,note\n1,2,3\n";
  const CsvReader reader = CsvReader::from_text(text, "x.csv");
  EXPECT_EQ(failure_of([&] { reader.column_index("note"); }), "65: x.csv:1: two columns are named 'note'");
}

TEST(Csv, NamesFileLineAndColumn) {
  EXPECT_EQ(csv_failure("b,a\n\"1\n2\",3\n4,abc\n"), "65: x.csv:4: column 'a': 'abc' is not a number");
  EXPECT_EQ(csv_failure("a\n1\n1.5x\n"), "65: x.csv:3: column 'a': '1.5x' is not a number");
  EXPECT_EQ(csv_failure("a\n1,5\n"),
            "65: x.csv:2: expected 1 cells as in the header, found 2; if the commas in it are decimal marks, "
            "add --decimal comma");
  EXPECT_EQ(csv_failure("a,b\n1,2\n3\n"), "65: x.csv:3: expected 2 cells as in the header, found 1");
  EXPECT_EQ(csv_failure("a,b\n1,2\n\n3,4\n"),
            "65: x.csv:3: a blank line inside the data; write NA for a missing value");
  EXPECT_EQ(csv_failure("a,b\n1,2\n3,\"4\n5,6\n"), "65: x.csv:3: a quote opens here and does not close");
  EXPECT_EQ(csv_failure("a,b\n1,\"2\"x\n"),
            "65: x.csv:2: text follows the closing quote of cell 2; double quotes inside a cell");
  EXPECT_EQ(csv_failure("a,b,a\n1,2,3\n"), "65: x.csv:1: two columns are named 'a'");
  EXPECT_EQ(
      csv_failure("\"a\",\"b\"\n\"1\",1,2\n"),
      "65: x.csv:2: expected 2 cells as in the header, found 3; if each row begins with a name that has no "
      "column in the header, as write.table() of R has it, write the file with row.names = FALSE");
  EXPECT_EQ(csv_failure(""), "65: x.csv: the file is empty; expected a header row");
  EXPECT_EQ(csv_failure("\n\n"), "65: x.csv: the file is empty; expected a header row");
  EXPECT_EQ(csv_failure("a\n1e999\n"), "65: x.csv:2: column 'a': '1e999' is beyond the range of numbers");
  EXPECT_EQ(csv_failure("a\n-\n"), "65: x.csv:2: column 'a': '-' is not a number");
  EXPECT_EQ(csv_failure("a\n+-1\n"), "65: x.csv:2: column 'a': '+-1' is not a number");
  EXPECT_EQ(csv_failure("a\rb\r1\r"),
            "65: x.csv:1: carriage return inside the header; end lines with LF or CRLF");
  EXPECT_EQ(csv_failure("PK\x03\x04zzz"),
            "65: x.csv: this is a zip archive or a spreadsheet; expected csv in UTF-8");
  EXPECT_EQ(failure_of([] { read_csv("/nonexistent.csv"); }).substr(0, 3), "66:");
}

TEST(Csv, ListsColumnsWhenOneIsMissing) {
  EXPECT_EQ(csv_failure("id,rt\n1,2\n", "rts"),
            "65: x.csv: no column 'rts' (did you mean 'rt'?); the columns are: id, rt");
  EXPECT_EQ(csv_failure("id,rt\n1,2\n", "response"),
            "65: x.csv: no column 'response'; the columns are: id, rt");
  EXPECT_EQ(csv_failure("id;rt\n1;2\n", "response"),
            "65: x.csv: no column 'response'; the columns are: id, rt");
  EXPECT_EQ(csv_failure("\"\",rt\n1,2\n", "response"),
            "65: x.csv: no column 'response'; the columns are: (unnamed), rt");
  EXPECT_EQ(csv_failure("id|rt\n1|2\n", "response"),
            "65: x.csv: no column 'response'; the columns are: id|rt. Say what stands between cells with "
            "--separator comma, semicolon or tab");
}

TEST(Csv, HeaderOnlyIsNoRows) {
  for (const char* text : {"a,b", "a,b\n", "a,b\r\n\r\n"}) {
    EXPECT_EQ(table_of(text).rows(), 0u);
    EXPECT_EQ(table_of(text).numbers("a"), Numbers{});
  }
}

TEST(Csv, MissingValuesAreRefusedOrKept) {
  EXPECT_EQ(csv_failure("a,b\n,1\n"), "65: x.csv:2: column 'a': the cell is empty");
  EXPECT_EQ(csv_failure("a,b\nNA,1\n"), "65: x.csv:2: column 'a': the value is missing ('NA')");
  EXPECT_EQ(csv_failure("a,b\nnan,1\n"), "65: x.csv:2: column 'a': the value is missing ('nan')");
  EXPECT_EQ(csv_failure("a,b\n-inf,1\n"), "65: x.csv:2: column 'a': '-inf' is not a finite number");
  const CsvOptions keep{.missing = MissingValues::keep_nan};
  const Numbers kept = table_of("a,b\n,1\nNA,1\nNaN,1\n  ,1\n\"\",1\n5,1\n", keep).numbers("a");
  ASSERT_EQ(kept.size(), 6u);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(std::isnan(kept[i])) << i;
  EXPECT_EQ(kept[5], 5);
  EXPECT_THROW(table_of("a\ninf\n", keep).numbers("a"), Error);
  EXPECT_THROW(table_of("a\nnone\n", keep).numbers("a"), Error);
}

TEST(CsvReader, StreamsInBoundedMemoryFromAnySource) {
  std::string text = "id,value\n";
  for (int i = 0; i < 60000; ++i) text += "row" + std::to_string(i) + "," + std::to_string(i) + ".5\r\n";
  const TemporaryFolder folder;
  write_file_atomic(folder / "big.csv", text);
  std::istringstream stream(text);
  std::vector<CsvReader> readers;
  readers.push_back(CsvReader::open(folder / "big.csv"));
  readers.push_back(CsvReader::from_stream(stream, "stream"));
  readers.push_back(CsvReader::from_text(text, "text"));
  for (CsvReader& reader : readers) {
    const std::size_t value = reader.column_index("value");
    int row = 0;
    for (; reader.next(); ++row) {
      ASSERT_EQ(reader.number(value), row + 0.5) << reader.name();
      ASSERT_EQ(reader.line(), static_cast<std::size_t>(row) + 2) << reader.name();
    }
    EXPECT_EQ(row, 60000);
    EXPECT_FALSE(reader.next());
  }
  std::istringstream again(text);
  EXPECT_EQ(read_csv(again, "-").numbers("value"), read_csv(folder / "big.csv").numbers("value"));
}

// Quotes, doubled quotes and CRLF wherever a chunk may end.
TEST(CsvReader, ReadsTheSameWhereverChunksEnd) {
  const std::string text = "a,b\r\n\"x\"\"y\",1\r\n\"\",\"p\r\nq\"\r\n\"\"\"\",\"z\"\r\n";
  for (std::size_t shift = 0; shift < 40; ++shift) {
    const std::string shifted = std::string(shift, 'n') + text;
    for (const std::size_t chunk : {16, 17, 23}) {
      EXPECT_EQ(streamed_cells(shifted, chunk), table_cells(table_of(shifted))) << shift << ' ' << chunk;
    }
  }
}

TEST(CsvReader, BoundsTheMemoryOfARow) {
  std::istringstream stream("a\n\"" + std::string(1 << 20, 'x'));
  EXPECT_EQ(failure_of([&] {
              CsvReader reader = CsvReader::from_stream(stream, "s", {.max_row_bytes = 100000});
              while (reader.next()) {
              }
            }),
            "65: s:2: a row of more than 100000 bytes; is a quote not closed?");
  // A row longer than the first buffer is still read.
  const std::string longer(1 << 20, 'y');
  EXPECT_EQ(streamed_cells("a\n" + longer + "\n1\n", 100000), (std::vector<Strings>{{"a"}, {longer}, {"1"}}));
}

TEST(CsvWriter, WritesWhatTheReaderReads) {
  const Strings words = {"plain", "with,comma", "a \"quote\"", "two\nlines", " blank", "", "é", "cr\r"};
  const Numbers numbers = {0.1, -1e-300, 1.0 / 3, 1e22, 5e-324, -0.0, 123456789, 2};
  std::string text;
  CsvWriter writer([&](std::string_view bytes) { text += bytes; }, {"word, one", "number"});
  for (std::size_t i = 0; i < words.size(); ++i) writer.cell(words[i]).cell(numbers[i]).end_row();
  const CsvTable table = table_of(text);
  EXPECT_EQ(table.text("word, one"), words);
  EXPECT_EQ(table.numbers("number"), numbers);
}

TEST(CsvWriter, ShortestNumbersAndRowLength) {
  std::string text;
  CsvWriter writer([&](std::string_view bytes) { text += bytes; }, {"a", "b", "c", "d", "e", "f", "g"});
  writer.cell(0.1f)
      .cell(0.1)
      .cell(7)
      .cell(std::int64_t{-8})
      .cell(true)
      .cell(std::nan(""))
      .missing()
      .end_row();
  EXPECT_EQ(text, "a,b,c,d,e,f,g\n0.1,0.1,7,-8,1,NaN,\n");
  writer.cell(1);
  EXPECT_THROW(writer.end_row(), Error);
  std::string single;
  CsvWriter column([&](std::string_view bytes) { single += bytes; }, {"a"});
  column.cell("").end_row();
  EXPECT_EQ(table_of(single).text("a"), Strings{""});
}

// Damaged text is read or refused, never worse, and in the same way by table and stream.
TEST(Csv, DamagedTextIsReadOrRefused) {
  const std::string good =
      "id,rt,\"no\"\"te\"\r\n1,0.25,\"x,\ny\"\n2,NaN,\"a \"\"b\"\"\"\n3,-1e5,\n\"4\",7,z\n";
  std::mt19937 random(1);
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::string text = mutated(good, random);
    std::vector<Strings> cells;
    const std::string by_table = failure_of([&] {
      const CsvTable table = table_of(text);
      cells = table_cells(table);
      for (std::size_t r = 0; r < table.rows(); ++r) table.line(r);
      for (std::size_t c = 0; c < table.columns().size(); ++c) failure_of([&] { table.numbers(c); });
    });
    std::vector<Strings> streamed;
    const std::string by_stream = failure_of([&] { streamed = streamed_cells(text, 16 + trial % 11); });
    ASSERT_EQ(by_table, by_stream) << text;
    ASSERT_EQ(cells, streamed) << text;
    refused += by_table != "no error";
  }
  EXPECT_GT(refused, 300);
  EXPECT_LT(refused, 2900);
}

}  // namespace
}  // namespace occam

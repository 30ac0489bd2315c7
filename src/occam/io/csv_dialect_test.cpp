#include "occam/io/csv_dialect.hpp"

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using Numbers = std::vector<double>;

// Keeps what is said.
class Notes : public SilentProgress {
 public:
  void say(std::string_view message) override { said.emplace_back(message); }
  std::vector<std::string> said;
};

struct Read {
  Numbers numbers;
  std::vector<std::string> said;
};

Read read(const std::string& text, const std::string& column = "rt", const CsvFormat& format = {},
          const std::string& name = "x.csv") {
  Notes notes;
  const CsvTable table(text, name, {.format = format, .notes = &notes});
  return {table.numbers(column), notes.said};
}

std::string failure(const std::string& text, const CsvFormat& format = {},
                    const std::string& name = "x.csv") {
  return testing_support::failure_of([&] { read(text, "rt", format, name); });
}

const std::vector<std::string> kNothing;
const std::vector<std::string> kCommas = {"x.csv: read with semicolons between cells and decimal commas"};
const std::vector<std::string> kPoints = {"x.csv: read with semicolons between cells and decimal points"};

TEST(CsvDialect, TheUsualIsReadWithoutAWord) {
  EXPECT_EQ(read("id,rt\na,0.512\nb,1.25\n").numbers, (Numbers{0.512, 1.25}));
  EXPECT_EQ(read("id,rt\na,0.512\n").said, kNothing);
  EXPECT_EQ(read("id\trt\na\t0.512\n", "rt", {}, "x.tsv").said, kNothing);
  EXPECT_EQ(read("id\trt\na\t1.234\n", "rt", {}, "x.tsv").numbers, Numbers{1.234});
  // A semicolon in a comma separated file is text.
  EXPECT_EQ(read("id,rt,note;more\na,0.512,x;y\n").said, kNothing);
}

// As R's write.csv2 and write.table(sep = ";", dec = ",") write data frames.
TEST(CsvDialect, ReadsWhatRWrites) {
  const std::string r =
      "\"\";\"subject\";\"rt\";\"response\"\n\"1\";\"anna\";0,512;1\n\"2\";\"b,c\";1,25e-05;0\n\"3\";NA;-12;"
      "1\n";
  EXPECT_EQ(read(r).numbers, (Numbers{0.512, 1.25e-05, -12}));
  EXPECT_EQ(read(r).said, kCommas);
  EXPECT_EQ(CsvTable(r, "x.csv").text("subject"), (std::vector<std::string>{"anna", "b,c", "NA"}));
}

// As spreadsheets write it: byte order mark, CRLF, quotes only where they are needed, and perhaps a first
// line that names the separator.
TEST(CsvDialect, ReadsWhatSpreadsheetsWrite) {
  const std::string text = "subject;rt\r\nanna;0,512\r\n\"x;y\";1,5\r\n";
  for (const std::string before : {"", "\xef\xbb\xbf", "sep=;\r\n", "\xef\xbb\xbfsep=;\r\n", "sep=;\n"}) {
    EXPECT_EQ(read(before + text).numbers, (Numbers{0.512, 1.5})) << before;
    EXPECT_EQ(read(before + text).said, kCommas) << before;
  }
  EXPECT_EQ(failure("sep=;\r\nsubject;rt\r\nanna;fast\r\n"),
            "65: x.csv:3: column 'rt': 'fast' is not a number");
  EXPECT_EQ(read("subject\trt\r\nanna\t0,512\r\n").said,
            std::vector<std::string>{"x.csv: read with tabs between cells and decimal commas"});
  EXPECT_EQ(read("subject\trt\nanna\t0,512\n", "rt", {}, "x.tsv").numbers, Numbers{0.512});
  EXPECT_EQ(read("subject\trt\nanna\t0,512\n", "rt", {}, "x.tsv").said,
            std::vector<std::string>{"x.tsv: read with tabs between cells and decimal commas"});
}

TEST(CsvDialect, SemicolonsDoNotMeanDecimalCommas) {
  EXPECT_EQ(read("id;rt\na;0.512\n").numbers, Numbers{0.512});
  EXPECT_EQ(read("id;rt\na;0.512\n").said, kPoints);
  EXPECT_EQ(read("id;rt\na;512\n").numbers, Numbers{512});
}

// A number such as 1,234 says nothing where another cannot be anything but a decimal one.
TEST(CsvDialect, WhatMayBeThousandsIsSettledByTheOtherNumbers) {
  EXPECT_EQ(read("id;rt\na;1,234\nb;0,5\n").numbers, (Numbers{1.234, 0.5}));
  EXPECT_EQ(read("id;rt\na;1.234\nb;0.5\n").numbers, (Numbers{1.234, 0.5}));
  EXPECT_EQ(read("id\trt\na\t1,234\nb\t0,5\n", "rt", {}, "x.tsv").numbers, (Numbers{1.234, 0.5}));
  EXPECT_NE(failure("id;rt\na;1,234\n").find("'1,234' cannot be read for sure: "), std::string::npos);
  EXPECT_NE(failure("id;rt\na;1,234\nb;1.234\n").find("cannot be read for sure: "), std::string::npos);
  EXPECT_EQ(failure("id;rt\na;1.234\n"),
            "65: x.csv:2: column 'rt': '1.234' cannot be read for sure: '1.234' in line 2 has a decimal mark "
            "or one "
            "between thousands; say which mark decimals have with --decimal point or --decimal comma");
  EXPECT_TRUE(failure("id\trt\na\t1,234\n", {}, "x.tsv")
                  .starts_with("65: x.tsv:2: column 'rt': '1,234' cannot be read for sure: "));
}

TEST(CsvDialect, TwoMarksInOneFileAreRefused) {
  EXPECT_EQ(failure("id;rt\na;0.5\nb;0,5\n"),
            "65: x.csv:2: column 'rt': '0.5' cannot be read for sure: '0.5' in line 2 has a point and '0,5' "
            "in line 3 a "
            "comma; say which mark decimals have with --decimal point or --decimal comma");
  // Whole numbers are beyond doubt, and so is a file whose mark was said.
  EXPECT_EQ(read("id;rt\n0.5;1\n0,5;2\n").numbers, (Numbers{1, 2}));
  EXPECT_EQ(read("id;rt\n0.5;1,5\n", "rt", {.decimal = "comma"}).numbers, Numbers{1.5});
  // Thousands among decimals of the other mark.
  EXPECT_EQ(
      failure("id;rt\na;0,5\nb;1.234\n"),
      "65: x.csv:3: column 'rt': '1.234' is not a number with a decimal comma: it has a decimal mark or "
      "one between thousands; remove the marks between thousands or, if all decimals of the file are "
      "written so, add --decimal point");
  EXPECT_NE(failure("id;rt\na;0,5\nb;1.234,5\n"), "no error");
  EXPECT_NE(failure("id;rt\na;0,5\nb;1,234,5\n"), "no error");
  EXPECT_NE(failure("id\trt\na\t0.5\nb\t1,234.5\n", {}, "x.tsv"), "no error");
}

// A mark that first shows far down, behind what is looked at, is refused there rather than misread.
TEST(CsvDialect, AnotherMarkFarDownIsRefused) {
  std::string whole = "id;rt\n";
  std::string points = whole;
  for (int i = 0; i < 20000; ++i) whole += "a;7\n";
  for (int i = 0; i < 20000; ++i) points += "a;0.5\n";
  for (const std::string number : {"0,5", "0.5", "1.234"}) {
    EXPECT_NE(failure(whole + "b;" + number + "\n")
                  .find("x.csv:20002: column 'rt': '" + number +
                        "' cannot be read for sure: no number in the first 64 kB has a mark"),
              std::string::npos);
  }
  EXPECT_EQ(read(whole).numbers.size(), 20000u);
  EXPECT_NE(failure(points + "b;0,5\n").find("x.csv:20002: column 'rt': '0,5' is not a number"),
            std::string::npos);
  EXPECT_EQ(read(whole + "b;0,5\n", "rt", {.decimal = "comma"}).numbers.back(), 0.5);
}

// Commas that may separate or be decimal marks: nothing is guessed, and the message says what settles it.
TEST(CsvDialect, CommasAloneAreSeparators) {
  EXPECT_EQ(
      failure("rt\n1,5\n"),
      "65: x.csv:2: expected 1 cells as in the header, found 2; if the commas in it are decimal marks, add "
      "--decimal comma");
  EXPECT_EQ(read("rt\n1,5\n", "rt", {.decimal = "comma"}).numbers, Numbers{1.5});
  EXPECT_EQ(
      failure("id,rt\n\"1\",\"1,5\"\n"),
      "65: x.csv:2: column 'rt': '1,5' is not a number with a decimal point; if all decimals of the file are "
      "written so, add --decimal comma");
  EXPECT_EQ(read("id,rt\n\"1\",\"1,5\"\n", "rt", {.decimal = "comma"}).numbers, Numbers{1.5});
  EXPECT_NE(failure("id,rt\n1,5,2,5\n").find("if the commas in it are decimal marks"), std::string::npos);
}

// To read 1,500 as 1.5 is what nobody must be led to.
TEST(CsvDialect, WhatMayBeThousandsIsSaidToBeSo) {
  EXPECT_EQ(
      failure("id,rt\na,\"1,500\"\n"),
      "65: x.csv:2: column 'rt': '1,500' is not a number with a decimal point: it has a decimal mark or "
      "one between thousands; remove the marks between thousands or, if all decimals of the file are "
      "written so, add --decimal comma");
  for (const std::string number : {"1,500,000", "-12,500.25", "1,500."}) {
    EXPECT_EQ(
        failure("id,rt\na,\"" + number + "\"\n"),
        "65: x.csv:2: column 'rt': '" + number + "' is not a number: remove the marks between thousands");
  }
  EXPECT_EQ(failure("id;rt\na;0,5\nb;1.500,5\n"),
            "65: x.csv:3: column 'rt': '1.500,5' is not a number: remove the marks between thousands");
  for (const std::string number : {"0,500", "1500,000", "1,50"}) {
    EXPECT_EQ(failure("id,rt\na,\"" + number + "\"\n").find("thousands"), std::string::npos) << number;
  }
  EXPECT_EQ(failure("id,rt\na,\"1,50,000\"\n"), "65: x.csv:2: column 'rt': '1,50,000' is not a number");
  EXPECT_EQ(failure("rt\n1,500\n"),
            "65: x.csv:2: expected 1 cells as in the header, found 2; if the commas in it are decimal marks, "
            "add --decimal comma; if they stand between thousands, remove them");
}

TEST(CsvDialect, SeparatorsInDoubtAreRefused) {
  EXPECT_EQ(
      failure("id;a\trt\n1;2\t3\n"),
      "65: x.csv: the header holds both semicolons and tabs; say what stands between cells with --separator "
      "semicolon or --separator tab");
  EXPECT_EQ(read("id;a\trt\n1;2\t3\n", "rt", {.separator = "tab"}).numbers, Numbers{3});
}

TEST(CsvDialect, WhatIsSetIsNotRecognised) {
  EXPECT_EQ(read("id;rt\na;1.234\n", "rt", {"semicolon", "point"}).numbers, Numbers{1.234});
  EXPECT_EQ(read("id;rt\na;1.234\n", "rt", {"semicolon", "point"}).said, kNothing);
  EXPECT_EQ(read("id;rt\na;1,234\n", "rt", {"semicolon", "comma"}).said, kNothing);
  EXPECT_EQ(read("a;b,rt\n1;2,3\n", "rt", {.separator = "comma"}).numbers, Numbers{3});
}

// Long and odd numbers with a decimal comma are those with a point.
TEST(CsvDialect, DecimalCommasAreExact) {
  EXPECT_EQ(read("id;rt\n1;0,1\n2;+2,5\n3; 3,25 \n4;1,5E-320\n5;,5\n6;5,\n7;9007199254740993,5\n8;\"7,5\"\n")
                .numbers,
            (Numbers{0.1, 2.5, 3.25, 1.5E-320, .5, 5, 9007199254740993.5, 7.5}));
}

// Recognition does not depend on how the bytes arrive.
TEST(CsvDialect, StreamsInSmallPieces) {
  const std::string text = "sep=;\nid;rt\na;0,512\nb;1,5\n";
  std::size_t at = 0;
  const auto one_byte = [&](std::span<char> out) {
    if (at == text.size() || out.empty()) return std::size_t{0};
    out[0] = text[at++];
    return std::size_t{1};
  };
  Notes notes;
  CsvReader reader(one_byte, "x.csv", {.notes = &notes, .chunk_bytes = 16});
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.number(1), 0.512);
  EXPECT_EQ(reader.line(), 3u);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.number(1), 1.5);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(notes.said, kCommas);
}

TEST(CsvDialect, NamesThatAreNotUtf8AreTakenForWindows1252) {
  Notes notes;
  const std::string text =
      "gr\xf6\xdf"
      "e;name\n0,5;M\xfcller\n1,5;Ende\n";
  CsvReader reader = CsvReader::from_text(text, "x.csv", {.notes = &notes});
  EXPECT_EQ(reader.columns(), (std::vector<std::string>{"größe", "name"}));
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text(1), "Müller");
  EXPECT_EQ(reader.number(0), 0.5);
  EXPECT_EQ(CsvTable(text, "x.csv").text("name"), (std::vector<std::string>{"Müller", "Ende"}));
  EXPECT_EQ(notes.said,
            (std::vector<std::string>{
                kCommas[0], "x.csv: not in UTF-8; names in it are read as Windows-1252 (Latin-1)"}));
}

}  // namespace
}  // namespace occam

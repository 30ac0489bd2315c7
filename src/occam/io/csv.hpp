// csv and tsv: RFC 4180 (quoted cells, doubled quotes, newlines inside quotes) with a header row; LF or CRLF,
// UTF-8 with or without a byte order mark, blank lines at the end ignored. Separator and decimal mark are set
// or recognised (csv_dialect.hpp); cells that are not UTF-8 are taken for Windows-1252. CsvReader goes row by
// row in bounded memory; CsvTable holds a whole file and parses columns on demand; CsvWriter writes what both
// read. Messages name the file, the true line (also after newlines inside quotes) and the column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "occam/core/progress.hpp"
#include "occam/io/csv_dialect.hpp"
#include "occam/io/file.hpp"

namespace occam {

// What a missing number (empty cell, NA, NaN) is: Error(bad_data), or a NaN that the caller deals with.
enum class MissingValues { refuse, keep_nan };

struct CsvOptions {
  CsvFormat format;
  MissingValues missing = MissingValues::refuse;
  ProgressSink* notes = nullptr;                   // told once what was recognised, where it is not the usual
  std::size_t chunk_bytes = std::size_t{1} << 18;  // streaming only: read at a time (fits in a cache)
  std::size_t max_row_bytes = std::size_t{64} << 20;  // streaming only: the memory one row may take
};

// Goes through a file row by row, in memory that does not grow with the file. All faults of the text are
// Error(bad_data): nothing in the file, rows with too few or too many cells, blank
// lines inside the data, quotes that do not close.
class CsvReader {
 public:
  // From a path, a stream, any source of bytes, or a text that outlives the reader. `name` is for messages.
  // The header is read at once.
  static CsvReader open(const std::string& path, CsvOptions options = {});
  static CsvReader from_stream(std::istream& stream, std::string name, CsvOptions options = {});
  static CsvReader from_text(std::string_view text, std::string name, CsvOptions options = {});
  CsvReader(ByteSource source, std::string name, CsvOptions options = {});

  const std::string& name() const { return name_; }
  const std::vector<std::string>& columns() const { return columns_; }
  bool has_column(std::string_view column) const;
  // Error(bad_data) that lists the columns there are when there is no such column, or says that there are
  // two.
  std::size_t column_index(std::string_view column) const;

  // Moves to the next row; false at the end. Then the functions below speak of that row.
  bool next();
  std::size_t line() const { return row_line_; }  // where the row starts, from 1
  // The cell without its quotes, as UTF-8, valid until next().
  std::string_view text(std::size_t column) const;
  // The cell as a name: like those of the header without blanks around it, unless it is quoted.
  std::string_view label(std::size_t column) const;
  // Whether the cell is a missing value, as a name or as a number.
  bool is_missing(std::size_t column) const;
  // Error(bad_data) where it is one, that says so.
  void refuse_missing(std::size_t column) const;
  // The cell as a finite number, or NaN for a missing one if the options keep those; else Error(bad_data).
  double number(std::size_t column) const { return number(column, options_.missing); }
  // The same, whatever the options say of missing ones.
  double number(std::size_t column, MissingValues missing) const;

 private:
  friend class CsvTable;
  struct Cell {
    const char* data;
    std::size_t size;
    bool quoted;
    bool escaped;  // holds doubled quotes
  };
  enum class Step { row, more, end };

  CsvReader(std::string name, CsvOptions options);
  std::size_t take_head(std::string_view head, bool whole);
  void read_header();
  void require_text(std::string_view start) const;
  void refill();
  Step tokenise();
  const char* quoted_cell(const char* at, std::size_t& newlines);
  bool next_row();
  bool is_blank() const { return cell_count_ == 1 && cells_[0].size == 0 && !cells_[0].quoted; }
  void add_cell(const char* begin, const char* end, bool quoted, bool escaped);
  void unescape_cells();
  void note_encoding() const;
  std::string count_hint() const;

  std::string name_;
  CsvOptions options_;
  CsvDialect dialect_;
  std::vector<std::string> columns_;
  std::size_t header_line_ = 0;

  ByteSource source_;         // empty when the whole text is there
  std::vector<char> buffer_;  // what was read from the source and not yet used
  const char* position_ = nullptr;
  const char* end_ = nullptr;
  bool at_end_ = false;  // the source has no more
  std::size_t next_line_ = 1;

  std::vector<Cell> cells_;  // of the row; the first cell_count_ are in use
  std::size_t cell_count_ = 0;
  std::size_t row_line_ = 0;
  std::vector<std::string> unescaped_;  // per column, for cells with doubled quotes
  bool any_escaped_ = false;
  mutable std::vector<std::string> decoded_;  // per column, for cells that are not UTF-8
  mutable bool encoding_noted_ = false;
};

// A whole file: its text and eight bytes per cell. Numbers and strings are made when a column is asked for.
class CsvTable {
 public:
  // Fails as CsvReader does. `name` is for messages.
  CsvTable(std::string text, std::string name, CsvOptions options = {});

  const std::string& name() const { return name_; }
  const std::vector<std::string>& columns() const { return columns_; }
  std::size_t rows() const { return rows_; }  // without the header; 0 is no error here
  bool has_column(std::string_view column) const;
  // Error(bad_data) that lists the columns there are when there is no such column, or says that there are
  // two.
  std::size_t column_index(std::string_view column) const;

  // A column as finite numbers (missing ones as the options say); the first other cell is Error(bad_data).
  std::vector<double> numbers(std::string_view column) const;
  std::vector<double> numbers(std::size_t column) const;
  // A column as strings, without quotes.
  std::vector<std::string> text(std::string_view column) const;
  std::vector<std::string> text(std::size_t column) const;
  // One cell, without quotes.
  std::string cell(std::size_t row, std::size_t column) const;
  // The line of the file at which a row starts, from 1: for messages of the caller.
  std::size_t line(std::size_t row) const;

 private:
  // Offset of the cell in text_ (40 bits), its length (23 bits), whether it holds doubled quotes (1 bit).
  using PackedCell = std::uint64_t;
  PackedCell pack(const CsvReader::Cell& cell, std::size_t line) const;
  std::string_view raw(std::size_t row, std::size_t column) const;

  std::string name_;
  CsvOptions options_;
  CsvDialect dialect_;
  std::string text_;
  std::vector<std::string> columns_;
  std::size_t header_line_ = 0;
  std::vector<PackedCell> cells_;  // (rows, columns)
  std::size_t rows_ = 0;
  // (row, line) wherever lines do not simply follow rows one by one.
  std::vector<std::pair<std::size_t, std::size_t>> line_marks_;
};

// A whole file or stream as a table. Fails as read_file and CsvReader do.
CsvTable read_csv(const std::string& path, CsvOptions options = {});
CsvTable read_csv(std::istream& stream, std::string name, CsvOptions options = {});

// Writes csv (or any other delimiter): a cell is quoted where it has to be, numbers are the shortest text
// that reads back to the same value. Each row goes to the sink whole.
class CsvWriter {
 public:
  // Writes the header. The sink is usually AtomicFile::sink().
  CsvWriter(ByteSink sink, const std::vector<std::string>& columns, char delimiter = ',');

  CsvWriter& cell(std::string_view text);
  CsvWriter& cell(const char* text) { return cell(std::string_view(text)); }
  CsvWriter& cell(double number);  // NaN, Inf and -Inf by these names
  CsvWriter& cell(float number);
  CsvWriter& cell(std::int64_t number);
  CsvWriter& cell(std::uint64_t number);
  CsvWriter& cell(int number) { return cell(static_cast<std::int64_t>(number)); }
  CsvWriter& cell(bool flag) { return cell(static_cast<std::int64_t>(flag)); }
  CsvWriter& missing();  // an empty cell

  // Ends the row; Error(internal) when it has not as many cells as the header.
  void end_row();

 private:
  void separate();
  template <class Number>
  CsvWriter& number_cell(Number number);

  ByteSink sink_;
  std::size_t columns_;
  char delimiter_;
  std::string row_;
  std::size_t cells_ = 0;
};

}  // namespace occam

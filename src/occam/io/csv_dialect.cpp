#include "occam/io/csv_dialect.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

bool ends_with_ignoring_case(std::string_view text, std::string_view ending) {
  if (text.size() < ending.size()) return false;
  text.remove_prefix(text.size() - ending.size());
  return std::equal(text.begin(), text.end(), ending.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

bool is_tsv(std::string_view name) {
  return ends_with_ignoring_case(name, ".tsv") || ends_with_ignoring_case(name, ".tab");
}

std::string_view option_of(char separator) {
  return separator == ';' ? "semicolon" : separator == '\t' ? "tab" : "comma";
}

std::string_view plural_of(char separator) {
  return separator == ';' ? "semicolons" : separator == '\t' ? "tabs" : "commas";
}

// The cells of a text one after the other. Quotes are respected, faults of the text left to the reader.
class Cells {
 public:
  Cells(std::string_view text, char separator) : text_(text), separator_(separator) {}

  // Moves to the next cell, false at the end.
  bool next() {
    if (at_ > text_.size() || (at_ == text_.size() && !open_)) return false;
    line_ += newlines_;
    newlines_ = 0;
    std::size_t end = at_;
    for (bool quoted = false; end < text_.size(); ++end) {
      const char c = text_[end];
      if (c == '"') quoted = !quoted;
      if (c == '\n') ++newlines_;
      if (!quoted && (c == separator_ || c == '\n')) break;
    }
    cell_ = text_.substr(at_, end - at_);
    ended_ = end < text_.size();
    open_ = ended_ && text_[end] == separator_;
    at_ = end + 1;
    return true;
  }

  // The cell without blanks and quotes around it.
  std::string_view cell() const {
    const auto first = cell_.find_first_not_of(" \t\r\"");
    if (first == std::string_view::npos) return {};
    return cell_.substr(first, cell_.find_last_not_of(" \t\r\"") - first + 1);
  }
  bool ended() const { return ended_; }  // by a separator or a line end, not by the end of the text
  bool ends_row() const { return !open_; }
  std::size_t line() const { return line_; }  // of the cell, from 1

 private:
  std::string_view text_;
  char separator_;
  std::string_view cell_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t newlines_ = 0;  // at the end of the present cell and inside it
  bool open_ = false;         // a cell follows in this row, if only an empty one
  bool ended_ = false;
};

// The header row: the first that is not blank.
std::string_view header_of(std::string_view head) {
  head.remove_prefix(std::min(head.find_first_not_of("\r\n"), head.size()));
  bool quoted = false;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '"') quoted = !quoted;
    if (head[i] == '\n' && !quoted) return head.substr(0, i);
  }
  return head;
}

bool holds_outside_quotes(std::string_view row, char wanted) {
  bool quoted = false;
  for (const char c : row) {
    if (c == '"') quoted = !quoted;
    if (c == wanted && !quoted) return true;
  }
  return false;
}

// The usual separator if the header holds it; otherwise the one other that it holds.
char recognised_separator(std::string_view header, std::string_view name, bool decimal_commas) {
  const char usual = is_tsv(name) ? '\t' : ',';
  if (holds_outside_quotes(header, usual)) return usual;
  std::string found;
  for (const char other : {',', ';', '\t'}) {
    if (other != usual && holds_outside_quotes(header, other)) found += other;
  }
  if (found.size() > 1) {
    throw Error(ErrorKind::bad_data,
                "{}: the header holds both {} and {}; say what stands between cells with --separator {} or "
                "--separator {}",
                name, plural_of(found[0]), plural_of(found[1]), option_of(found[0]), option_of(found[1]));
  }
  if (found.size() == 1) return found[0];
  // One column: commas below its name are decimal commas if the user says so.
  return decimal_commas && usual == ',' ? ';' : usual;
}

// A number with one mark. `grouped`: it may as well be a whole number with a mark between its thousands.
struct Decimal {
  char mark;
  bool grouped;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t count = 0;
  while (from + count < text.size() && is_digit(text[from + count])) ++count;
  return count;
}

// Nothing for whole numbers and all other texts.
std::optional<Decimal> decimal_in(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const std::size_t whole = digits_at(text, 0);
  if (whole == text.size() || (text[whole] != ',' && text[whole] != '.')) return std::nullopt;
  const std::size_t fraction = digits_at(text, whole + 1);
  if (whole + fraction == 0) return std::nullopt;
  std::size_t at = whole + 1 + fraction;
  const bool bare = at == text.size();
  if (!bare) {
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const std::size_t exponent = digits_at(text, at);
    if (exponent == 0 || at + exponent != text.size()) return std::nullopt;
  }
  return Decimal{text[whole], bare && whole >= 1 && whole <= 3 && text[0] != '0' && fraction == 3};
}

// The first number of each kind below the header.
struct Evidence {
  struct Seen {
    std::string text;
    std::size_t line = 0;
  };
  Seen point, comma, grouped_point, grouped_comma;

  void add(std::string_view text, std::size_t line) {
    const std::optional<Decimal> number = decimal_in(text);
    if (!number) return;
    Seen& seen = number->mark == ',' ? (number->grouped ? grouped_comma : comma)
                                     : (number->grouped ? grouped_point : point);
    if (seen.line == 0) seen = {std::string(text), line};
  }
};

Evidence evidence_in(std::string_view head, bool whole, char separator, std::size_t first_line) {
  Evidence evidence;
  Cells cells(head, separator);
  bool below_header = false;
  bool header_begun = false;
  while (cells.next()) {
    if (below_header && (cells.ended() || whole)) evidence.add(cells.cell(), first_line + cells.line() - 1);
    header_begun = header_begun || !cells.cell().empty();
    if (cells.ends_row() && header_begun) below_header = true;
  }
  return evidence;
}

void leave_open(const std::string& why, CsvDialect& dialect) {
  dialect.decimal = '\0';
  dialect.doubt = why + "; say which mark decimals have with --decimal point or --decimal comma";
}

void doubt_two(const Evidence::Seen& point, const Evidence::Seen& comma, CsvDialect& dialect) {
  leave_open(fmt::format("'{}' in line {} has a point and '{}' in line {} a comma", point.text, point.line,
                         comma.text, comma.line),
             dialect);
}

void doubt_grouped(const Evidence::Seen& number, CsvDialect& dialect) {
  leave_open(
      fmt::format("'{}' in line {} has a decimal mark or one between thousands", number.text, number.line),
      dialect);
}

// A number that can only be a decimal one settles the mark. Others may be whole, with a mark between
// thousands, and nothing is guessed from them; only the point among tabs is what it is in most files.
void recognise_decimal(const Evidence& seen, bool whole, CsvDialect& dialect) {
  if (seen.point.line > 0 && seen.comma.line > 0) {
    doubt_two(seen.point, seen.comma, dialect);
  } else if (seen.point.line > 0 || seen.comma.line > 0) {
    dialect.decimal = seen.comma.line > 0 ? ',' : '.';
  } else if (seen.grouped_comma.line > 0) {
    doubt_grouped(seen.grouped_comma, dialect);
  } else if (seen.grouped_point.line > 0 && dialect.separator == ';') {
    doubt_grouped(seen.grouped_point, dialect);
  } else if (seen.grouped_point.line == 0 && dialect.separator == ';' && !whole) {
    leave_open("no number in the first 64 kB has a mark", dialect);
  }
}

// Takes the line "sep=;", by which some spreadsheets name their separator, off the head.
std::optional<char> separator_line(std::string_view& head) {
  const std::size_t end = head.find('\n');
  if (end == std::string_view::npos || !head.starts_with("sep=")) return std::nullopt;
  std::string_view value = head.substr(4, end - 4);
  if (value.ends_with('\r')) value.remove_suffix(1);
  if (value.size() != 1 || std::string_view(",;\t").find(value[0]) == std::string_view::npos)
    return std::nullopt;
  head.remove_prefix(end + 1);
  return value[0];
}

// What differs from what the name of the file promises is said.
std::string note_on(const CsvDialect& dialect, std::string_view name, const CsvFormat& format) {
  const bool usual = dialect.separator == (is_tsv(name) ? '\t' : ',');
  const bool said_separator = format.separator != "auto" || usual;
  const bool said_decimal =
      format.decimal != "auto" || dialect.decimal == '\0' || (dialect.decimal == '.' && usual);
  if (said_separator && said_decimal) return "";
  std::string note = fmt::format("{}: read with {} between cells", name, plural_of(dialect.separator));
  if (dialect.decimal != '\0') note += dialect.decimal == ',' ? " and decimal commas" : " and decimal points";
  return note;
}

}  // namespace

Fields fields(CsvFormat& format) {
  return {
      field("separator", format.separator,
            "what stands between the cells of csv files; auto: recognised and said")
          .one_of({"auto", "comma", "semicolon", "tab"}),
      field("decimal", format.decimal, "the decimal mark of numbers in csv files; auto: recognised and said")
          .one_of({"auto", "point", "comma"})};
}

CsvDialect csv_dialect(std::string_view head, bool whole, std::string_view name, const CsvFormat& format) {
  CsvDialect dialect;
  const std::size_t size = head.size();
  const std::optional<char> named = separator_line(head);
  dialect.skipped_bytes = size - head.size();
  if (format.separator != "auto") {
    dialect.separator = format.separator == "semicolon" ? ';' : format.separator == "tab" ? '\t' : ',';
  } else {
    dialect.separator =
        named ? *named : recognised_separator(header_of(head), name, format.decimal == "comma");
  }
  if (format.decimal != "auto") {
    dialect.decimal = format.decimal == "comma" ? ',' : '.';
  } else if (dialect.separator != ',') {
    recognise_decimal(evidence_in(head, whole, dialect.separator, named ? 2 : 1), whole, dialect);
  }
  dialect.note = note_on(dialect, name, format);
  return dialect;
}

bool is_decimal_with(char mark, std::string_view text) {
  const std::optional<Decimal> number = decimal_in(text);
  return number && number->mark == mark;
}

Thousands thousands_with(char mark, std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  std::size_t at = digits_at(text, 0);
  if (at < 1 || at > 3 || text[0] == '0') return Thousands::no;
  std::size_t groups = 0;
  for (; at < text.size() && text[at] == mark; ++groups, at += 4) {
    if (digits_at(text, at + 1) != 3) return Thousands::no;
  }
  if (groups == 0) return Thousands::no;
  if (at == text.size()) return groups == 1 ? Thousands::perhaps : Thousands::surely;
  const bool decimals =
      text[at] == (mark == ',' ? '.' : ',') && at + 1 + digits_at(text, at + 1) == text.size();
  return decimals ? Thousands::surely : Thousands::no;
}

}  // namespace occam

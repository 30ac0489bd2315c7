// One tokeniser serves streams and whole texts: it cuts a row out of the bytes at hand, or asks for more.
// Unquoted cells, nearly all there are, are searched for their end eight bytes at a time; nothing is copied.
#include "occam/io/csv.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <istream>
#include <iterator>
#include <limits>

#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/from_chars.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// First bytes of files that are given by mistake.
struct OtherFormat {
  std::string_view first_bytes;
  const char* what;
};
constexpr OtherFormat kOtherFormats[] = {{"PK\x03\x04", "a zip archive or a spreadsheet"},
                                         {"\x1f\x8b", "compressed with gzip"},
                                         {"\xff\xfe", "UTF-16 text"},
                                         {"\xfe\xff", "UTF-16 text"},
                                         {"\x93NUMPY", "a NumPy array (name it .npy)"}};

// Whether a cell, were it the first of a file, would be taken for something else.
bool misread_as_first(std::string_view text) {
  return text.starts_with(kByteOrderMark) || text.starts_with("sep=") ||
         std::any_of(std::begin(kOtherFormats), std::end(kOtherFormats),
                     [&](const OtherFormat& other) { return text.starts_with(other.first_bytes); });
}

constexpr std::size_t kSmallestChunk = 16;  // holds any byte order mark and signature
constexpr int kLengthBits = 23;             // of a packed cell
constexpr std::uint64_t kLongestCell = (std::uint64_t{1} << kLengthBits) - 1;
constexpr std::uint64_t kLargestText = std::uint64_t{1} << 40;

// High bit of each byte of `word` that is zero. (Bytes above the first such may be marked wrongly; only the
// lowest mark is used.)
std::uint64_t zero_bytes(std::uint64_t word) {
  return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}

// The first delimiter or newline in [at, end), or `end`.
const char* find_cell_end(const char* at, const char* end, char delimiter) {
  const std::uint64_t delimiters = 0x0101010101010101u * static_cast<unsigned char>(delimiter);
  const std::uint64_t newlines = 0x0101010101010101u * static_cast<unsigned char>('\n');
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const std::uint64_t hits = zero_bytes(word ^ delimiters) | zero_bytes(word ^ newlines);
    if (hits != 0) return at + std::countr_zero(hits) / 8;
  }
  while (at != end && *at != delimiter && *at != '\n') ++at;
  return at;
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string undoubled(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == '"') ++i;  // the tokeniser has seen that quotes come in pairs
  }
  return result;
}

enum class CellStatus { number, missing, infinite, out_of_range, in_doubt, other };

// std::from_chars reports numbers below the smallest double as out of range too; those are just nearly zero.
CellStatus parse_extreme(std::string_view text, double& number) {
  long double wide = 0;
  const auto [end, status] = from_chars(text.data(), text.data() + text.size(), wide);
  if (status != std::errc{} || std::abs(wide) > 1) return CellStatus::out_of_range;
  number = static_cast<double>(wide);
  return CellStatus::number;
}

// Everything the quick way of parse_cell does not settle: blanks, a leading plus, missing values, faults.
CellStatus parse_unusual_cell(std::string_view text, double& number) {
  text = without_blanks(text);
  if (text.empty() || text == "NA") return CellStatus::missing;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* const last = text.data() + text.size();
  const auto [end, status] = from_chars(text.data(), last, number);
  if (status == std::errc::invalid_argument || end != last) return CellStatus::other;
  if (status == std::errc::result_out_of_range) return parse_extreme(text, number);
  if (std::isnan(number)) return CellStatus::missing;
  return std::isinf(number) ? CellStatus::infinite : CellStatus::number;
}

// Decimal numbers of at most 15 digits, such as 17 or -0.325: digits and power of ten are then exact in
// double, so one division rounds correctly (Clinger 1990), which spares these the general algorithm.
inline bool parse_short_decimal(std::string_view text, double& number) {
  constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 16) return false;
  std::int64_t digits = 0;
  std::size_t count = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
    if (digit <= 9) {
      digits = digits * 10 + digit;
      ++count;
    } else if (text[i] == '.' && point == text.size()) {
      point = i;
    } else {
      return false;
    }
  }
  if (count == 0 || count > 15) return false;
  const std::size_t decimals = point == text.size() ? 0 : text.size() - point - 1;
  const double value = static_cast<double>(digits) / kPowers[decimals];
  number = negative ? -value : value;
  return true;
}

inline CellStatus parse_cell(std::string_view text, double& number) {
  if (parse_short_decimal(text, number)) return CellStatus::number;
  const char* const last = text.data() + text.size();
  const auto [end, status] = from_chars(text.data(), last, number);
  if (status == std::errc{} && end == last && std::isfinite(number)) return CellStatus::number;
  return parse_unusual_cell(text, number);
}

// The same for a decimal comma, or (mark 0) where only whole numbers are beyond doubt.
CellStatus parse_marked_cell(std::string_view text, char mark, double& number) {
  if (text.find('.') != std::string_view::npos) return mark == ',' ? CellStatus::other : CellStatus::in_doubt;
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return parse_cell(text, number);
  if (mark != ',') return CellStatus::in_doubt;
  std::string pointed(text);
  pointed[comma] = '.';
  return parse_cell(pointed, number);
}

inline CellStatus parse_cell(std::string_view text, const CsvDialect& dialect, double& number) {
  return dialect.decimal == '.' ? parse_cell(text, number) : parse_marked_cell(text, dialect.decimal, number);
}

// What may be meant by a cell that is no number.
std::string cell_hint(std::string_view cell, const CsvDialect& dialect) {
  const char other = dialect.decimal == ',' ? '.' : ',';
  const std::string_view text = without_blanks(cell);
  const Thousands thousands = thousands_with(other, text);
  if (thousands == Thousands::surely) return ": remove the marks between thousands";
  if (!is_decimal_with(other, text)) return "";
  return fmt::format(" with a decimal {}{}; {}if all decimals of the file are written so, add --decimal {}",
                     dialect.decimal == ',' ? "comma" : "point",
                     thousands == Thousands::no ? "" : ": it has a decimal mark or one between thousands",
                     thousands == Thousands::no ? "" : "remove the marks between thousands or, ",
                     other == ',' ? "comma" : "point");
}

[[noreturn]] void refuse_cell(CellStatus status, const CsvDialect& dialect, std::string_view name,
                              std::size_t line, std::string_view column, std::string_view cell) {
  const std::string where = fmt::format("{}:{}: column '{}'", name, line, shown(column));
  switch (status) {
    case CellStatus::missing:
      if (without_blanks(cell).empty()) throw Error(ErrorKind::bad_data, "{}: the cell is empty", where);
      throw Error(ErrorKind::bad_data, "{}: the value is missing ('{}')", where, shown(cell));
    case CellStatus::infinite:
      throw Error(ErrorKind::bad_data, "{}: '{}' is not a finite number", where, shown(cell));
    case CellStatus::out_of_range:
      throw Error(ErrorKind::bad_data, "{}: '{}' is beyond the range of numbers", where, shown(cell));
    case CellStatus::in_doubt:
      throw Error(ErrorKind::bad_data, "{}: '{}' cannot be read for sure: {}", where, shown(cell),
                  dialect.doubt);
    default:
      throw Error(ErrorKind::bad_data, "{}: '{}' is not a number{}", where, shown(cell),
                  cell_hint(cell, dialect));
  }
}

// A cell that parse_cell did not find to be a number: NaN where missing values are kept, else an error.
double missing_or_refuse(CellStatus status, MissingValues missing, const CsvDialect& dialect,
                         std::string_view name, std::size_t line, std::string_view column,
                         std::string_view cell) {
  if (status == CellStatus::missing && missing == MissingValues::keep_nan) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  refuse_cell(status, dialect, name, line, column, cell);
}

std::size_t find_column(const std::vector<std::string>& columns, std::string_view column) {
  return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin());
}

std::size_t require_column(const std::vector<std::string>& columns, std::string_view column,
                           std::string_view name, std::size_t header_line) {
  const std::size_t index = find_column(columns, column);
  if (std::count(columns.begin(), columns.end(), column) > 1) {
    throw Error(ErrorKind::bad_data, "{}:{}: two columns are named '{}'", name, header_line, shown(column));
  }
  if (index < columns.size()) return index;
  const std::string nearest = nearest_name(column, columns);
  const std::string hint = nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", shown(nearest));
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < std::min<std::size_t>(columns.size(), 20); ++i)
    listed.push_back(columns[i].empty() ? "(unnamed)" : shown(columns[i]));
  if (columns.size() > listed.size()) listed.emplace_back("...");
  std::string message =
      fmt::format("{}: no column '{}'{}; the columns are: {}", name, column, hint, fmt::join(listed, ", "));
  if (columns.size() == 1 && columns[0].find_first_of(";\t,|") != std::string::npos) {
    message += ". Say what stands between cells with --separator comma, semicolon or tab";
  }
  throw Error(ErrorKind::bad_data, message);
}

}  // namespace

CsvReader::CsvReader(std::string name, CsvOptions options)
    : name_(std::move(name)), options_(std::move(options)) {}

CsvReader::CsvReader(ByteSource source, std::string name, CsvOptions options)
    : CsvReader(std::move(name), std::move(options)) {
  // The beginning is read ahead, looked at, and handed out again before the rest.
  const auto head = std::make_shared<std::string>(kCsvHeadBytes, '\0');
  std::size_t size = 0;
  std::size_t count = 1;
  while (size < head->size() && count > 0) {
    count = source(std::span<char>(*head).subspan(size));
    size += count;
  }
  head->resize(size);
  source_ = [head, given = take_head(*head, count == 0),
             rest = std::move(source)](std::span<char> out) mutable {
    if (given == head->size()) return rest(out);
    const std::size_t some = std::min(out.size(), head->size() - given);
    std::memcpy(out.data(), head->data() + given, some);
    given += some;
    return some;
  };
  read_header();
}

CsvReader CsvReader::open(const std::string& path, CsvOptions options) {
  const auto file = std::make_shared<InputFile>(path);
  return CsvReader([file](std::span<char> out) { return file->read(out); }, path, options);
}

CsvReader CsvReader::from_stream(std::istream& stream, std::string name, CsvOptions options) {
  const auto source = [&stream, name](std::span<char> out) {
    stream.read(out.data(), static_cast<std::streamsize>(out.size()));
    if (stream.bad()) throw Error(ErrorKind::io, "cannot read '{}'", name);
    return static_cast<std::size_t>(stream.gcount());
  };
  return CsvReader(source, std::move(name), options);
}

CsvReader CsvReader::from_text(std::string_view text, std::string name, CsvOptions options) {
  CsvReader reader(std::move(name), options);
  const std::size_t skipped = reader.take_head(text.substr(0, kCsvHeadBytes), text.size() <= kCsvHeadBytes);
  reader.position_ = text.data() + skipped;
  reader.end_ = text.data() + text.size();
  reader.at_end_ = true;
  reader.read_header();
  return reader;
}

bool CsvReader::has_column(std::string_view column) const {
  return find_column(columns_, column) < columns_.size();
}

std::size_t CsvReader::column_index(std::string_view column) const {
  return require_column(columns_, column, name_, header_line_);
}

// Says what a file is that is no text at all, rather than complain about its columns.
void CsvReader::require_text(std::string_view start) const {
  for (const auto& [first_bytes, what] : kOtherFormats) {
    if (start.starts_with(first_bytes))
      throw Error(ErrorKind::bad_data, "{}: this is {}; expected csv in UTF-8", name_, what);
  }
}

// Learns from the beginning of the file how it is written. Returns how many bytes stand before the header.
std::size_t CsvReader::take_head(std::string_view head, bool whole) {
  require_text(head);
  const std::size_t mark = head.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  dialect_ = csv_dialect(head.substr(mark), whole, name_, options_.format);
  if (dialect_.skipped_bytes > 0) ++next_line_;
  if (!dialect_.note.empty() && options_.notes != nullptr) options_.notes->say(dialect_.note);
  return mark + dialect_.skipped_bytes;
}

void CsvReader::read_header() {
  if (!at_end_) refill();
  do {
    if (!next_row()) throw Error(ErrorKind::bad_data, "{}: the file is empty; expected a header row", name_);
  } while (is_blank());
  unescape_cells();
  header_line_ = row_line_;
  columns_.reserve(cell_count_);
  for (std::size_t i = 0; i < cell_count_; ++i) {
    const std::string_view name = cells_[i].escaped ? std::string_view(unescaped_[i])
                                                    : std::string_view(cells_[i].data, cells_[i].size);
    if (!is_utf8(name)) note_encoding();
    columns_.push_back(as_utf8(cells_[i].quoted ? name : without_blanks(name)));
    const std::string& column = columns_.back();
    if (column.find('\0') != std::string::npos) {
      throw Error(ErrorKind::bad_data, "{}:{}: the header holds zero bytes; expected csv in UTF-8", name_,
                  row_line_);
    }
    if (!cells_[i].quoted && column.find('\r') != std::string::npos) {
      throw Error(ErrorKind::bad_data, "{}:{}: carriage return inside the header; end lines with LF or CRLF",
                  name_, row_line_);
    }
  }
  decoded_.resize(columns_.size());
}

void CsvReader::note_encoding() const {
  if (encoding_noted_ || options_.notes == nullptr) return;
  encoding_noted_ = true;
  options_.notes->say(fmt::format("{}: not in UTF-8; names in it are read as Windows-1252 (Latin-1)", name_));
}

// Moves what is left of the buffer to its front and reads on behind it; a row that fills it doubles it.
void CsvReader::refill() {
  const std::size_t left = static_cast<std::size_t>(end_ - position_);
  if (left >= options_.max_row_bytes) {
    throw Error(ErrorKind::bad_data, "{}:{}: a row of more than {} bytes; is a quote not closed?", name_,
                next_line_, options_.max_row_bytes);
  }
  if (left > 0) std::memmove(buffer_.data(), position_, left);
  if (buffer_.size() < 2 * left || buffer_.empty())
    buffer_.resize(std::max({kSmallestChunk, options_.chunk_bytes, 4 * left}));
  std::size_t used = left;
  // Sources such as pipes give a little at a time; a full buffer means fewer rows begun twice.
  while (used < buffer_.size() && !at_end_) {
    const std::size_t count = source_(std::span<char>(buffer_).subspan(used));
    at_end_ = count == 0;
    used += count;
  }
  position_ = buffer_.data();
  end_ = position_ + used;
}

void CsvReader::add_cell(const char* begin, const char* end, bool quoted, bool escaped) {
  if (cell_count_ == cells_.size()) cells_.emplace_back();
  cells_[cell_count_++] = {begin, static_cast<std::size_t>(end - begin), quoted, escaped};
}

// Adds the cell whose opening quote is at `at` and returns what follows its closing quote; null: more is
// needed.
const char* CsvReader::quoted_cell(const char* at, std::size_t& newlines) {
  const char* const begin = at + 1;
  const char* quote = begin;
  bool escaped = false;
  for (;; quote += 2, escaped = true) {
    quote = static_cast<const char*>(std::memchr(quote, '"', static_cast<std::size_t>(end_ - quote)));
    if (quote == nullptr && !at_end_) return nullptr;
    if (quote == nullptr) {
      throw Error(ErrorKind::bad_data, "{}:{}: a quote opens here and does not close", name_,
                  next_line_ + newlines);
    }
    if (quote + 1 == end_ && !at_end_) return nullptr;
    if (quote + 1 == end_ || quote[1] != '"') break;
  }
  newlines += static_cast<std::size_t>(std::count(begin, quote, '\n'));
  add_cell(begin, quote, true, escaped);
  any_escaped_ |= escaped;
  return quote + 1;
}

// Cuts the next row into cells. Step::more leaves everything as it was, for another try with more bytes.
CsvReader::Step CsvReader::tokenise() {
  const char* at = position_;
  if (at == end_) return at_end_ ? Step::end : Step::more;
  const char delimiter = dialect_.separator;
  std::size_t newlines = 0;
  cell_count_ = 0;
  any_escaped_ = false;
  for (;;) {
    if (at == end_ && !at_end_) return Step::more;
    if (at != end_ && *at == '"') {
      at = quoted_cell(at, newlines);
      if (at == nullptr) return Step::more;
      if (at != end_ && *at == '\r') {
        if (at + 1 == end_ && !at_end_) return Step::more;
        if (at + 1 == end_ || at[1] == '\n') ++at;
      }
      if (at != end_ && *at != delimiter && *at != '\n') {
        throw Error(ErrorKind::bad_data,
                    "{}:{}: text follows the closing quote of cell {}; double quotes inside a cell", name_,
                    next_line_ + newlines, cell_count_);
      }
    } else {
      const char* cell_end = find_cell_end(at, end_, delimiter);
      if (cell_end == end_ && !at_end_) return Step::more;
      const bool ends_row = cell_end == end_ || *cell_end == '\n';
      const bool crlf = ends_row && cell_end != at && cell_end[-1] == '\r';
      add_cell(at, crlf ? cell_end - 1 : cell_end, false, false);
      at = cell_end;
    }
    if (at == end_ || *at == '\n') break;
    ++at;  // the delimiter
  }
  row_line_ = next_line_;
  next_line_ += newlines + 1;
  position_ = at == end_ ? at : at + 1;
  return Step::row;
}

bool CsvReader::next_row() {
  for (;;) {
    const Step step = tokenise();
    if (step != Step::more) return step == Step::row;
    refill();
  }
}

// More cells than the header has: rows may have names, in quotes as R writes them, or their commas be decimal
// ones.
std::string CsvReader::count_hint() const {
  if (cell_count_ == columns_.size() + 1 && cells_[0].quoted) {
    return "; if each row begins with a name that has no column in the header, as write.table() of R has it, "
           "write the file with row.names = FALSE";
  }
  if (dialect_.separator != ',' || cell_count_ <= columns_.size()) return "";
  std::string hint = "; if the commas in it are decimal marks, ";
  hint += columns_.size() == 1
              ? "add --decimal comma"
              : "separate cells by semicolons or tabs, or quote the numbers and add --decimal comma";
  const auto bytes = [&](std::size_t c) { return std::string_view(cells_[c].data, cells_[c].size); };
  for (std::size_t c = 1; c < cell_count_; ++c) {
    if (thousands_with(',', fmt::format("{},{}", bytes(c - 1), bytes(c))) == Thousands::no) continue;
    return hint + "; if they stand between thousands, remove them";
  }
  return hint;
}

bool CsvReader::next() {
  if (!next_row()) return false;
  if (is_blank()) {
    const std::size_t blank_line = row_line_;
    while (is_blank()) {
      if (!next_row()) return false;
    }
    throw Error(ErrorKind::bad_data, "{}:{}: a blank line inside the data; write NA for a missing value",
                name_, blank_line);
  }
  if (cell_count_ != columns_.size()) {
    throw Error(ErrorKind::bad_data, "{}:{}: expected {} cells as in the header, found {}{}", name_,
                row_line_, columns_.size(), cell_count_, count_hint());
  }
  if (any_escaped_) unescape_cells();
  return true;
}

void CsvReader::unescape_cells() {
  unescaped_.resize(cell_count_);
  for (std::size_t i = 0; i < cell_count_; ++i) {
    if (cells_[i].escaped) unescaped_[i] = undoubled({cells_[i].data, cells_[i].size});
  }
}

std::string_view CsvReader::text(std::size_t column) const {
  const Cell& cell = cells_[column];
  const std::string_view bytes =
      cell.escaped ? std::string_view(unescaped_[column]) : std::string_view(cell.data, cell.size);
  if (is_utf8(bytes)) return bytes;
  note_encoding();
  std::string text = as_utf8(bytes);
  std::string& kept = decoded_[column];
  if (kept != text) kept = std::move(text);  // what was handed out for this row stays where it is
  return kept;
}

std::string_view CsvReader::label(std::size_t column) const {
  return cells_[column].quoted ? text(column) : without_blanks(text(column));
}

bool CsvReader::is_missing(std::size_t column) const {
  double number = 0;
  return parse_cell({cells_[column].data, cells_[column].size}, number) == CellStatus::missing;
}

void CsvReader::refuse_missing(std::size_t column) const {
  if (is_missing(column))
    refuse_cell(CellStatus::missing, dialect_, name_, row_line_, columns_[column], text(column));
}

double CsvReader::number(std::size_t column, MissingValues missing) const {
  double number = 0;
  // A cell with doubled quotes is no number either way, so the raw bytes will do.
  const CellStatus status = parse_cell({cells_[column].data, cells_[column].size}, dialect_, number);
  if (status == CellStatus::number) return number;
  return missing_or_refuse(status, missing, dialect_, name_, row_line_, columns_[column], text(column));
}

CsvTable::CsvTable(std::string text, std::string name, CsvOptions options)
    : name_(std::move(name)), options_(std::move(options)), text_(std::move(text)) {
  if (std::uint64_t{text_.size()} >= kLargestText)
    throw Error(ErrorKind::bad_data, "{}: larger than 1 TiB", name_);
  CsvReader reader = CsvReader::from_text(text_, name_, options_);
  columns_ = reader.columns();
  header_line_ = reader.header_line_;
  dialect_ = reader.dialect_;
  std::size_t expected_line = 0;
  while (reader.next()) {
    if (rows_ == 0) {
      // The first row tells how many there will be, give or take.
      const auto row_bytes = static_cast<std::size_t>(reader.position_ - reader.cells_[0].data);
      cells_.reserve((text_.size() / std::max<std::size_t>(row_bytes, 1) + 1) * columns_.size());
    }
    if (reader.line() != expected_line) line_marks_.emplace_back(rows_, reader.line());
    expected_line = reader.line() + 1;
    for (std::size_t i = 0; i < columns_.size(); ++i) cells_.push_back(pack(reader.cells_[i], reader.line()));
    ++rows_;
  }
}

CsvTable::PackedCell CsvTable::pack(const CsvReader::Cell& cell, std::size_t line) const {
  if (cell.size > kLongestCell) {
    throw Error(ErrorKind::bad_data, "{}:{}: a cell of more than {} bytes", name_, line, kLongestCell);
  }
  const auto offset = static_cast<std::uint64_t>(cell.data - text_.data());
  return offset << (kLengthBits + 1) | cell.size << 1 | static_cast<std::uint64_t>(cell.escaped);
}

std::string_view CsvTable::raw(std::size_t row, std::size_t column) const {
  const PackedCell packed = cells_[row * columns_.size() + column];
  return {text_.data() + (packed >> (kLengthBits + 1)),
          static_cast<std::size_t>((packed >> 1) & kLongestCell)};
}

bool CsvTable::has_column(std::string_view column) const {
  return find_column(columns_, column) < columns_.size();
}

std::size_t CsvTable::column_index(std::string_view column) const {
  return require_column(columns_, column, name_, header_line_);
}

std::vector<double> CsvTable::numbers(std::string_view column) const {
  return numbers(column_index(column));
}

std::vector<double> CsvTable::numbers(std::size_t column) const {
  std::vector<double> result(rows_);
  for (std::size_t row = 0; row < rows_; ++row) {
    // A cell with doubled quotes is no number either way, so the raw text will do.
    const CellStatus status = parse_cell(raw(row, column), dialect_, result[row]);
    if (status == CellStatus::number) continue;
    result[row] = missing_or_refuse(status, options_.missing, dialect_, name_, line(row), columns_[column],
                                    cell(row, column));
  }
  return result;
}

std::vector<std::string> CsvTable::text(std::string_view column) const {
  return text(column_index(column));
}

std::vector<std::string> CsvTable::text(std::size_t column) const {
  std::vector<std::string> result;
  result.reserve(rows_);
  for (std::size_t row = 0; row < rows_; ++row) result.push_back(cell(row, column));
  return result;
}

std::string CsvTable::cell(std::size_t row, std::size_t column) const {
  const bool escaped = (cells_[row * columns_.size() + column] & 1) != 0;
  return as_utf8(escaped ? undoubled(raw(row, column)) : std::string(raw(row, column)));
}

std::size_t CsvTable::line(std::size_t row) const {
  const auto after =
      std::upper_bound(line_marks_.begin(), line_marks_.end(), row,
                       [](std::size_t wanted, const auto& mark) { return wanted < mark.first; });
  const auto& [mark_row, mark_line] = *std::prev(after);
  return mark_line + (row - mark_row);
}

CsvTable read_csv(const std::string& path, CsvOptions options) {
  return CsvTable(read_file(path), path, std::move(options));
}

CsvTable read_csv(std::istream& stream, std::string name, CsvOptions options) {
  std::string text;
  std::vector<char> chunk(std::max(kSmallestChunk, options.chunk_bytes));
  do {
    stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<std::size_t>(stream.gcount()));
  } while (stream);
  if (stream.bad()) throw Error(ErrorKind::io, "cannot read '{}'", name);
  return CsvTable(std::move(text), std::move(name), std::move(options));
}

CsvWriter::CsvWriter(ByteSink sink, const std::vector<std::string>& columns, char delimiter)
    : sink_(std::move(sink)), columns_(columns.size()), delimiter_(delimiter) {
  for (const std::string& column : columns) cell(column);
  end_row();
}

void CsvWriter::separate() {
  if (cells_++ > 0) row_ += delimiter_;
}

CsvWriter& CsvWriter::cell(std::string_view text) {
  separate();
  const char special[] = {delimiter_, '"', '\n', '\r'};
  const bool outer_blank = without_blanks(text).size() != text.size();
  // A row of one empty cell would be a blank line.
  const bool quote = text.find_first_of(std::string_view(special, 4)) != std::string_view::npos ||
                     outer_blank || (text.empty() && columns_ == 1) || misread_as_first(text);
  if (!quote) {
    row_ += text;
    return *this;
  }
  row_ += '"';
  for (const char c : text) {
    if (c == '"') row_ += '"';
    row_ += c;
  }
  row_ += '"';
  return *this;
}

template <class Number>
CsvWriter& CsvWriter::number_cell(Number number) {
  separate();
#ifdef __EMSCRIPTEN__  // its library cannot write floating-point numbers
  fmt::format_to(std::back_inserter(row_), "{}", number);
#else
  char digits[64];
  const auto [end, status] = std::to_chars(std::begin(digits), std::end(digits), number);
  row_.append(digits, end);
#endif
  return *this;
}

CsvWriter& CsvWriter::cell(double number) {
  if (std::isnan(number)) return cell("NaN");
  if (std::isinf(number)) return cell(number > 0 ? "Inf" : "-Inf");
  return number_cell(number);
}

CsvWriter& CsvWriter::cell(float number) {
  if (!std::isfinite(number)) return cell(static_cast<double>(number));
  return number_cell(number);
}

CsvWriter& CsvWriter::cell(std::int64_t number) {
  return number_cell(number);
}

CsvWriter& CsvWriter::cell(std::uint64_t number) {
  return number_cell(number);
}

CsvWriter& CsvWriter::missing() {
  return cell(std::string_view());
}

void CsvWriter::end_row() {
  if (cells_ != columns_) {
    throw Error(ErrorKind::internal, "a csv row of {} cells under {} columns", cells_, columns_);
  }
  row_ += '\n';
  sink_(row_);
  row_.clear();
  cells_ = 0;
}

}  // namespace occam

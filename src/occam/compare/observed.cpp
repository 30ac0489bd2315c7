#include "occam/compare/observed.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iostream>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/data/labels.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/npy.hpp"
#include "occam/io/npz.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

// For each column whether values may be missing.
std::vector<bool> may_miss(const ObservedOptions& options) {
  std::vector<bool> result(options.columns.size(), false);
  for (const std::int64_t c : options.may_miss) result[static_cast<std::size_t>(c)] = true;
  return result;
}

// "{}" in the advice stands for the name of the column.
[[noreturn]] void refuse_with_advice(const std::string& what, std::string advice, const std::string& column) {
  if (const auto at = advice.find("{}"); at != std::string::npos) advice.replace(at, 2, shown(column));
  throw Error(ErrorKind::bad_data, "{}{}{}", what, advice.empty() ? "" : "; ", advice);
}

// A missing value where none may be; `what` says where and what.
[[noreturn]] void refuse_missing(const ObservedOptions& options, std::size_t column,
                                 const std::string& what) {
  const bool given = std::find(options.given.begin(), options.given.end(),
                               static_cast<std::int64_t>(column)) != options.given.end();
  const bool apart = given && !options.given_advice.empty();
  refuse_with_advice(what, apart ? options.given_advice : options.missing_advice, options.columns[column]);
}

// Collects rows into data sets and data sets into chunks.
class Chunk {
 public:
  Chunk(const ObservedOptions& options, const ObservedSink& sink)
      : options_(options),
        sink_(sink),
        D_(static_cast<std::int64_t>(options.columns.size())),
        may_miss_(may_miss(options)) {}

  void begin(std::string id, std::string group = "") {
    forget_empty();
    if (sets() >= options_.chunk_sets || rows() >= options_.chunk_rows) flush();
    ids_.push_back(std::move(id));
    groups_.push_back(std::move(group));
    dropped_.push_back(0);
    offsets_.push_back(offsets_.back());
  }
  // Missing values are NaN here; where they are refused, none gets this far.
  void row(const float* values) {
    bool whole = true;
    for (std::int64_t c = 0; c < D_; ++c)
      whole = whole && (may_miss_[static_cast<std::size_t>(c)] || !std::isnan(values[c]));
    if (!whole) {
      ++summary_.dropped_rows;
      ++dropped_.back();
      return;
    }
    data_.insert(data_.end(), values, values + D_);
    ++offsets_.back();
  }
  void rows(const float* values, std::int64_t count) {
    const std::size_t needed = data_.size() + static_cast<std::size_t>(count * D_);
    if (needed > data_.capacity()) data_.reserve(std::max(needed, 2 * data_.capacity()));
    for (std::int64_t r = 0; r < count; ++r) row(values + r * D_);
  }
  void count_dropped(std::int64_t rows) { summary_.dropped_rows += rows; }
  void flush() {
    forget_empty();
    if (ids_.empty()) return;
    number_labels();
    sink_({ids_, {{data_.data(), rows(), D_, D_}, offsets_.data(), sets()}, groups_, dropped_});
    data_.clear();
    ids_.clear();
    groups_.clear();
    dropped_.clear();
    offsets_.assign(1, 0);
  }
  std::int64_t sets() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t rows() const { return offsets_.back(); }
  const ObservedSummary& summary() const { return summary_; }

 private:
  void number_labels() {
    const Matrix<float> all{data_.data(), rows(), D_, D_};
    for (std::size_t set = 0; set < ids_.size(); ++set)
      occam::number_labels(all.rows_from(offsets_[set], offsets_[set + 1] - offsets_[set]), options_.labels);
  }
  // A data set of which no row was left.
  void forget_empty() {
    if (ids_.empty() || offsets_[offsets_.size() - 2] != offsets_.back()) return;
    summary_.lost_sets.push_back(std::move(ids_.back()));
    ids_.pop_back();
    groups_.pop_back();
    dropped_.pop_back();
    offsets_.pop_back();
  }

  const ObservedOptions& options_;
  const ObservedSink& sink_;
  std::int64_t D_;
  std::vector<bool> may_miss_;  // (D)
  ObservedSummary summary_;
  std::vector<float> data_;
  std::vector<std::string> ids_, groups_;
  std::vector<std::int64_t> dropped_;
  std::vector<std::int64_t> offsets_ = {0};
};

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string file_stem(const std::string& path) {
  if (path == "-") return "stdin";
  const auto slash = path.find_last_of('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const auto dot = name.find_last_of('.');
  return dot == 0 || dot == std::string::npos ? name : name.substr(0, dot);
}

// ---- csv
// -----------------------------------------------------------------------------------------------------

class CsvDataSets {
 public:
  // `notes`: as for open_csv.
  CsvDataSets(CsvReader reader, const ObservedOptions& options, std::string default_id, ProgressSink* notes)
      : reader_(std::move(reader)),
        options_(options),
        default_id_(std::move(default_id)),
        may_miss_(may_miss(options)) {
    for (const std::string& column : options.columns) columns_.push_back(reader_.column_index(column));
    is_label_.resize(columns_.size());
    for (const std::int64_t c : columns_in(options.labels)) is_label_[static_cast<std::size_t>(c)] = true;
    for (const std::string& column : options.by) by_.push_back(reader_.column_index(column));
    if (!options.group.empty()) group_ = reader_.column_index(options.group);
    const bool reserved =
        std::find(options.columns.begin(), options.columns.end(), "dataset") != options.columns.end();
    if (by_.empty() && options.by_dataset && !reserved && reader_.has_column("dataset"))
      by_.push_back(reader_.column_index("dataset"));
    if (by_.empty() && options.by_dataset && !reserved) say_of_other_case(notes);
    whose_ = by_;
    if (group_) whose_.push_back(*group_);
  }

  // Rows of which it is not known whose they are, are refused or left out.
  bool next() {
    do {
      if (!reader_.next()) return false;
    } while (is_left_out());
    key_.clear();
    for (const std::size_t column : by_) {
      const std::string_view text = reader_.label(column);
      // With its length, so that "a/b" and "c" are not taken for "a" and "b/c", whatever cells hold.
      key_ += std::to_string(text.size());
      key_ += ':';
      key_ += text;
    }
    return true;
  }
  // Whether the file holds several data sets, told apart by a column.
  bool keyed() const { return !by_.empty(); }
  // What tells the row's data set from others, and the same for people.
  const std::string& key() const { return key_; }
  std::string id() const {
    if (by_.empty()) return default_id_;
    std::string id;
    for (std::size_t i = 0; i < by_.size(); ++i) {
      if (i > 0) id += '/';
      id += reader_.label(by_[i]);
    }
    return id;
  }
  // The group of the row's data set; `known` is what an earlier row said.
  std::string group(const std::string* known = nullptr) const {
    if (!group_) return "";
    const std::string_view text = reader_.label(*group_);
    if (known != nullptr && text != *known) {
      throw Error(ErrorKind::bad_data,
                  "{}:{}: data set '{}' has rows of two groups: '{}' and '{}' in column '{}'", reader_.name(),
                  reader_.line(), shown(id()), shown(*known), shown(text), shown(reader_.columns()[*group_]));
    }
    return std::string(text);
  }
  void values(std::vector<float>& row) {
    row.clear();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t column = columns_[c];
      if (is_label_[c]) {
        if (const auto number = names_.number(reader_.label(column))) {
          row.push_back(*number);
          continue;
        }
      }
      const double factor = options_.factors.empty() ? 1 : options_.factors[c];
      const double value = factor * reader_.number(column, MissingValues::keep_nan);
      if (std::isnan(value) && options_.missing == MissingRows::refuse && !may_miss_[c]) refuse(c);
      if (std::abs(value) > std::numeric_limits<float>::max()) {
        throw Error(ErrorKind::bad_data, "{}:{}: column '{}': {} is too large", reader_.name(),
                    reader_.line(), shown(reader_.columns()[column]), value);
      }
      row.push_back(static_cast<float>(value));
    }
  }
  const CsvReader& reader() const { return reader_; }
  std::int64_t left_out() const { return left_out_; }

 private:
  // "Dataset" may be what is meant by "dataset"; the user decides.
  void say_of_other_case(ProgressSink* notes) const {
    for (const std::string& column : reader_.columns()) {
      if (notes == nullptr || in_lower_case(column) != "dataset" || is_read(column)) continue;
      notes->warn(
          fmt::format("{}: all rows are taken for one data set; if column '{}' tells data sets apart, add "
                      "--by {}",
                      reader_.name(), shown(column), shown(column)));
    }
  }
  bool is_read(const std::string& column) const {
    return std::find(options_.columns.begin(), options_.columns.end(), column) != options_.columns.end();
  }
  bool is_left_out() {
    bool missing = false;
    for (const std::size_t column : whose_) {
      if (!reader_.is_missing(column)) continue;
      missing = true;
      if (options_.missing == MissingRows::refuse) refuse_nameless(column);
    }
    left_out_ += missing ? 1 : 0;
    return missing;
  }
  [[noreturn]] void refuse_nameless(std::size_t column) const {
    std::string what;
    try {
      reader_.refuse_missing(column);
    } catch (const Error& error) {
      what = error.what();
    }
    what += column == group_ ? fmt::format(", so data set '{}' is of no group", shown(id()))
                             : ", so the row is of no data set";
    refuse_with_advice(what, options_.nameless_advice, reader_.columns()[column]);
  }
  [[noreturn]] void refuse(std::size_t c) const {
    try {
      reader_.number(columns_[c], MissingValues::refuse);
    } catch (const Error& error) {
      refuse_missing(options_, c, error.what());
    }
    throw Error(ErrorKind::internal, "a value is missing, and is not");
  }

  CsvReader reader_;
  const ObservedOptions& options_;
  std::string default_id_, key_;
  std::vector<bool> may_miss_;  // (D)
  std::vector<std::size_t> columns_, by_;
  std::optional<std::size_t> group_;
  std::vector<std::size_t> whose_;  // columns that say whose a row is
  std::int64_t left_out_ = 0;       // rows where one of these is missing
  std::vector<bool> is_label_;      // (D)
  LabelNames names_;
};

// `notes`: who is told how the file was read; a file that is read twice says it once.
CsvDataSets open_csv(const ObservedCsv& file, const ObservedOptions& options, ProgressSink* notes) {
  CsvOptions csv;
  csv.format = options.csv;
  csv.notes = notes;
  return {file.open(csv), options, file.id, notes};
}

ObservedCsv csv_at(const std::string& path) {
  if (path == "-")
    return {[](const CsvOptions& csv) { return CsvReader::from_stream(std::cin, "standard input", csv); },
            "stdin"};
  return {[path](const CsvOptions& csv) { return CsvReader::open(path, csv); }, as_utf8(file_stem(path))};
}

// Whether the rows of each data set stand together, which lets the file be streamed.
bool is_grouped(const ObservedCsv& file, const ObservedOptions& options) {
  CsvDataSets rows = open_csv(file, options, nullptr);
  if (!rows.keyed()) return true;
  std::unordered_set<std::string> seen;
  std::string present;
  bool any = false;
  while (rows.next()) {
    if (any && rows.key() == present) continue;
    if (!seen.insert(rows.key()).second) return false;
    present = rows.key();
    any = true;
  }
  return true;
}

[[noreturn]] void refuse_empty(const std::string& name) {
  throw Error(ErrorKind::bad_data, "{}: there is a header but no data", name);
}

void stream_csv(const ObservedCsv& file, const ObservedOptions& options, Chunk& chunk) {
  CsvDataSets rows = open_csv(file, options, options.notes);
  std::unordered_set<std::string> seen;
  std::vector<float> values;
  std::string present, group;
  bool any = false;
  while (rows.next()) {
    if (!any || rows.key() != present) {
      if (!seen.insert(rows.key()).second) {
        throw Error(
            ErrorKind::bad_data,
            "{}:{}: data set '{}' begins again; rows of a data set must stand together when read from a pipe",
            rows.reader().name(), rows.reader().line(), shown(rows.id()));
      }
      present = rows.key();
      group = rows.group();
      chunk.begin(rows.id(), group);
      any = true;
    }
    rows.group(&group);
    rows.values(values);
    chunk.row(values.data());
  }
  chunk.count_dropped(rows.left_out());
  if (!any && rows.left_out() == 0) refuse_empty(rows.reader().name());
}

// Data sets whose rows are scattered over the file, in the order of their first rows.
void gather_csv(const ObservedCsv& file, const ObservedOptions& options, Chunk& chunk) {
  CsvDataSets rows = open_csv(file, options, options.notes);
  std::unordered_map<std::string, std::size_t> index;
  std::vector<std::string> ids, groups;
  std::vector<std::vector<float>> sets;
  std::vector<float> values;
  while (rows.next()) {
    const auto [place, fresh] = index.try_emplace(rows.key(), ids.size());
    if (fresh) {
      ids.push_back(rows.id());
      groups.push_back(rows.group());
      sets.emplace_back();
    }
    rows.group(&groups[place->second]);
    rows.values(values);
    sets[place->second].insert(sets[place->second].end(), values.begin(), values.end());
  }
  chunk.count_dropped(rows.left_out());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    chunk.begin(ids[i], groups[i]);
    chunk.rows(sets[i].data(), static_cast<std::int64_t>(sets[i].size() / options.columns.size()));
  }
}

void read_csv_sets(const ObservedCsv& file, const ObservedOptions& options, Chunk& chunk) {
  is_grouped(file, options) ? stream_csv(file, options, chunk) : gather_csv(file, options, chunk);
}

// ---- numpy
// ---------------------------------------------------------------------------------------------------

void require_finite(const std::vector<float>& values, const std::string& name,
                    const ObservedOptions& options) {
  const std::vector<bool> allowed = may_miss(options);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = i % allowed.size();
    const bool missing = std::isnan(values[i]);
    if (std::isfinite(values[i]) || (missing && (options.missing == MissingRows::drop || allowed[column])))
      continue;
    const std::string what =
        fmt::format("{}: element {} is {}; observations must be finite numbers", name, i, values[i]);
    if (missing) refuse_missing(options, column, what);
    throw Error(ErrorKind::bad_data, what);
  }
}

// (N), (N, D) is one data set; (B, N, D) are B of them.
void add_array(NdArray array, const std::string& name, const std::string& id, const ObservedOptions& options,
               Chunk& chunk) {
  const auto D = static_cast<std::int64_t>(options.columns.size());
  const Shape& shape = array.shape;
  const bool flat = shape.size() == 1 && D == 1;
  if (!flat && (shape.size() < 2 || shape.size() > 3 || shape.back() != D)) {
    throw Error(ErrorKind::bad_data, "{}: shape {}, expected (N, {}) or (B, N, {})", name, shape_text(shape),
                D, D);
  }
  const std::vector<float> values = array.as_float();
  array.bytes = {};  // not needed any more, and perhaps large
  require_finite(values, name, options);
  if (values.empty()) throw Error(ErrorKind::bad_data, "{}: shape {} holds no data", name, shape_text(shape));
  const std::int64_t n = flat ? shape[0] : shape[shape.size() - 2];
  const std::int64_t sets = shape.size() == 3 ? shape[0] : 1;
  for (std::int64_t b = 0; b < sets; ++b) {
    chunk.begin(sets == 1 && shape.size() < 3 ? id : std::to_string(b));
    chunk.rows(values.data() + b * n * D, n);
  }
}

// The layout that `occam simulate` writes: all rows in `data`, sizes in `n`.
void add_packed(const NpzReader& file, const std::string& path, const ObservedOptions& options,
                Chunk& chunk) {
  const auto D = static_cast<std::int64_t>(options.columns.size());
  NdArray data = file.read("data");
  if (data.shape.size() != 2 || data.shape[1] != D) {
    throw Error(ErrorKind::bad_data, "{}: 'data' has shape {}, expected (rows, {})", path,
                shape_text(data.shape), D);
  }
  const std::vector<float> values = data.as_float();
  data.bytes = {};  // not needed any more, and perhaps large
  require_finite(values, path + ": 'data'", options);
  std::int64_t row = 0;
  std::int64_t b = 0;
  for (const std::int64_t n : file.read("n").as_int64()) {
    if (n < 1 || n > data.shape[0] - row) {
      throw Error(ErrorKind::bad_data, "{}: 'n' does not fit 'data' at data set {}", path, b);
    }
    chunk.begin(std::to_string(b++));
    chunk.rows(values.data() + row * D, n);
    row += n;
  }
  if (row != data.shape[0])
    throw Error(ErrorKind::bad_data, "{}: 'n' does not cover all rows of 'data'", path);
}

void read_npz(const std::string& path, const ObservedOptions& options, Chunk& chunk) {
  const NpzReader file(path);
  if (file.names().empty()) throw Error(ErrorKind::bad_data, "{}: there are no arrays in it", path);
  if (file.has("data") && file.has("n")) return add_packed(file, path, options, chunk);
  for (const std::string& name : file.names())
    add_array(file.read(name), path + ": '" + shown(name) + "'", as_utf8(name), options, chunk);
}

}  // namespace

ObservedSummary read_observed(const std::string& path, const ObservedOptions& options,
                              const ObservedSink& sink) {
  Chunk chunk(options, sink);
  const bool numpy = path.ends_with(".npy") || path.ends_with(".npz");
  if (numpy && !options.by.empty()) {
    throw Error(ErrorKind::usage, "--by names columns of a csv file; {} has none", path);
  }
  if (numpy && !options.group.empty()) {
    throw Error(ErrorKind::usage, "--group-by names a column of a csv file; {} has none", path);
  }
  if (path.ends_with(".npz")) {
    read_npz(path, options, chunk);
  } else if (path.ends_with(".npy")) {
    add_array(read_npy(path), path, as_utf8(file_stem(path)), options, chunk);
  } else if (path == "-" || !InputFile(path).is_regular()) {
    stream_csv(csv_at(path), options, chunk);
  } else {
    read_csv_sets(csv_at(path), options, chunk);
  }
  chunk.flush();
  return chunk.summary();
}

ObservedSummary read_observed(const ObservedCsv& file, const ObservedOptions& options,
                              const ObservedSink& sink) {
  Chunk chunk(options, sink);
  read_csv_sets(file, options, chunk);
  chunk.flush();
  return chunk.summary();
}

}  // namespace occam

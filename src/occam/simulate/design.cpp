#include "occam/simulate/design.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/data/labels.hpp"
#include "occam/io/csv.hpp"
#include "occam/simulate/prior.hpp"

namespace occam {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& column, const std::string& why) {
  throw Error(ErrorKind::bad_config, "design: {}: {}", column, why);
}

// Fisher and Yates.
template <class T>
void shuffle(Rng& rng, std::vector<T>& values) {
  for (std::int64_t i = static_cast<std::int64_t>(values.size()) - 1; i > 0; --i) {
    std::swap(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(rng.uniform_int(0, i))]);
  }
}

// ---- Generated designs ------------------------------------------------------------------------------------

// How many rows each of L levels gets.
struct Shares {
  enum class Kind { equal, random, any, given };
  Kind kind = Kind::equal;
  std::vector<double> given;  // (L), sums to one

  // A level for each of n rows, in random order.
  void draw(Rng& rng, std::int64_t levels, std::int64_t n, std::vector<std::int64_t>& out) const {
    out.resize(static_cast<std::size_t>(n));
    std::vector<double> weights = given;
    bool exact = kind == Kind::equal;
    if (kind == Kind::random) weights.assign(static_cast<std::size_t>(levels), 1.0);
    if (kind == Kind::any) weights = any(rng, levels, exact);
    if (!exact) {
      for (std::int64_t& level : out) level = rng.categorical(weights);
      return;
    }
    // As equal as n allows; what is left over goes to levels drawn at random.
    std::vector<std::int64_t> order(static_cast<std::size_t>(levels));
    std::iota(order.begin(), order.end(), 0);
    shuffle(rng, order);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = order[i % order.size()];
    shuffle(rng, out);
  }

  json to_json() const {
    switch (kind) {
      case Kind::equal:
        return "equal";
      case Kind::random:
        return "random";
      case Kind::any:
        return "any";
      case Kind::given:
        break;
    }
    return given;
  }

 private:
  // A quarter of the data sets are balanced, a quarter balanced but for chance, as most experiments are; in
  // the others shares are spread evenly over all that is possible.
  static std::vector<double> any(Rng& rng, std::int64_t levels, bool& exact) {
    const double kind = rng.uniform();
    exact = kind < 0.25;
    std::vector<double> weights(static_cast<std::size_t>(levels), 1.0);
    if (kind < 0.5) return weights;
    for (double& weight : weights) weight = rng.exponential();  // uniform over the simplex
    return weights;
  }
};

// Combinations of levels, each of which takes memory for every data set.
constexpr std::size_t kMostCells = 1'000'000;

struct DesignColumn {
  std::string name;
  std::int64_t at = 0;         // its place among the columns of the problem
  std::vector<double> levels;  // or
  Prior values;
  Shares shares;
  bool constant = false;

  bool has_levels() const { return !levels.empty(); }
};

class GeneratedDesign final : public Design {
 public:
  GeneratedDesign(std::vector<DesignColumn> columns, bool factorial, std::int64_t D)
      : columns_(std::move(columns)), factorial_(factorial), D_(D) {}

  void fill(Rng& rng, std::int64_t n, std::span<float> rows) const override {
    std::vector<std::int64_t> drawn;
    if (factorial_) cross(rng, n, rows, drawn);
    for (const DesignColumn& column : columns_) {
      if (column.has_levels() && factorial_) continue;
      const auto put = [&](std::int64_t row, double value) {
        rows[static_cast<std::size_t>(row * D_ + column.at)] = static_cast<float>(value);
      };
      if (column.has_levels()) {
        column.shares.draw(rng, static_cast<std::int64_t>(column.levels.size()), column.constant ? 1 : n,
                           drawn);
      }
      const double once = column.has_levels() ? column.levels[static_cast<std::size_t>(drawn[0])]
                          : column.constant   ? column.values.sample(rng)
                                              : 0.0;
      for (std::int64_t row = 0; row < n; ++row) {
        if (column.constant) {
          put(row, once);
        } else if (column.has_levels()) {
          put(row, column.levels[static_cast<std::size_t>(drawn[static_cast<std::size_t>(row)])]);
        } else {
          put(row, column.values.sample(rng));
        }
      }
    }
  }

  nlohmann::json json() const override {
    nlohmann::json table = nlohmann::json::object();
    if (factorial_) table["factorial"] = true;
    for (const DesignColumn& column : columns_) {
      nlohmann::json& entry = table[column.name];
      if (!column.has_levels() && !column.constant) {
        entry = column.values.text();
        continue;
      }
      if (column.has_levels()) {
        entry["levels"] = column.levels;
        entry["shares"] = column.shares.to_json();
      } else {
        entry["values"] = column.values.text();
      }
      if (column.constant) entry["constant"] = true;
    }
    return table;
  }

 private:
  // The cells of the crossing are the levels of one large factor.
  void cross(Rng& rng, std::int64_t n, std::span<float> rows, std::vector<std::int64_t>& drawn) const {
    std::int64_t cells = 1;
    for (const DesignColumn& column : columns_) {
      if (column.has_levels()) cells *= static_cast<std::int64_t>(column.levels.size());
    }
    Shares().draw(rng, cells, n, drawn);
    for (std::int64_t row = 0; row < n; ++row) {
      std::int64_t cell = drawn[static_cast<std::size_t>(row)];
      for (const DesignColumn& column : columns_) {
        if (!column.has_levels()) continue;
        const auto L = static_cast<std::int64_t>(column.levels.size());
        rows[static_cast<std::size_t>(row * D_ + column.at)] =
            static_cast<float>(column.levels[static_cast<std::size_t>(cell % L)]);
        cell /= L;
      }
    }
  }

  std::vector<DesignColumn> columns_;
  bool factorial_;
  std::int64_t D_;
};

Shares shares_of(const json& value, std::size_t levels, const std::string& name) {
  Shares shares;
  if (value.is_string()) {
    const std::vector<std::string> known = {"equal", "random", "any"};
    const auto found = std::find(known.begin(), known.end(), value.get<std::string>());
    if (found == known.end()) {
      refuse(name, fmt::format("shares = \"{}\" is not known{}; expected equal, random, any or a list of "
                               "numbers",
                               value.get<std::string>(), did_you_mean(value.get<std::string>(), known)));
    }
    shares.kind = static_cast<Shares::Kind>(found - known.begin());
    return shares;
  }
  const bool numbers = value.is_array() && value.size() == levels &&
                       std::all_of(value.begin(), value.end(), [](const json& x) { return x.is_number(); });
  if (!numbers) refuse(name, fmt::format("shares: expected {} numbers, one for each level", levels));
  shares.kind = Shares::Kind::given;
  double sum = 0;
  for (const json& share : value) {
    shares.given.push_back(share.get<double>());
    if (!(shares.given.back() >= 0)) refuse(name, "shares: a share is negative");
    sum += shares.given.back();
  }
  if (std::abs(sum - 1) > 1e-9) refuse(name, fmt::format("shares sum to {}, not to 1", sum));
  return shares;
}

Prior prior_of(const json& value, const std::string& name) {
  try {
    if (value.is_number()) return Prior::fixed(value.get<double>());
    if (value.is_string()) return Prior::parse(value.get<std::string>());
  } catch (const Error& error) {
    refuse(name, error.what());
  }
  refuse(name, "expected a number, a prior in quotes such as \"uniform(0, 10)\", or { levels = [...] }");
}

DesignColumn column_of(const std::string& name, std::int64_t at, const json& entry) {
  DesignColumn column;
  column.name = name;
  column.at = at;
  if (!entry.is_object()) {
    column.values = prior_of(entry, name);
    return column;
  }
  const std::vector<std::string> known = {"levels", "shares", "values", "constant"};
  for (const auto& [key, value] : entry.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      refuse(name, fmt::format("unknown key '{}'{}", key, did_you_mean(key, known)));
    }
  }
  if (entry.contains("levels") == entry.contains("values")) {
    refuse(name, "expected either levels = [1, 2, ...] or values = \"a prior\"");
  }
  if (entry.contains("constant")) {
    if (!entry["constant"].is_boolean()) refuse(name, "constant: expected true or false");
    column.constant = entry["constant"].get<bool>();
  }
  if (entry.contains("values")) {
    if (entry.contains("shares")) refuse(name, "shares belong to levels");
    column.values = prior_of(entry["values"], name);
    return column;
  }
  for (const json& level : entry["levels"]) {
    if (level.is_string()) refuse(name, "levels: expected numbers; give names numbers, such as 1, 2, 3");
    if (!level.is_number() || !std::isfinite(level.get<double>())) refuse(name, "levels: expected numbers");
    column.levels.push_back(static_cast<double>(static_cast<float>(level.get<double>())));
  }
  std::vector<double> sorted = column.levels;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    refuse(name, "levels: expected one or more numbers, each of them once");
  }
  column.shares = shares_of(entry.value("shares", json("equal")), column.levels.size(), name);
  return column;
}

// ---- The user's own experiment ----------------------------------------------------------------------------

// Designs of subjects as they were. Half of the data sets take one whole; the others cut it short, so that a
// network also knows subjects of whom less is there.
class TakenDesign final : public Design {
 public:
  // What one subject's rows hold: (rows, columns of the design, then 1 where a value of the columns with
  // patterns is missing and 0 where it is there).
  using Subject = std::vector<float>;

  // The first of the columns are the design's, the last `patterns` are observed. `path`: of the csv that was
  // read, or empty.
  TakenDesign(std::string path, std::string from, std::string by, std::vector<std::string> names,
              std::vector<std::int64_t> at, std::size_t patterns, std::vector<Subject> subjects,
              std::int64_t D)
      : path_(std::move(path)),
        from_(std::move(from)),
        by_(std::move(by)),
        names_(std::move(names)),
        at_(std::move(at)),
        given_(at_.size() - patterns),
        subjects_(std::move(subjects)),
        D_(D) {}

  std::int64_t size(Rng& rng, std::int64_t) const override {
    const std::int64_t whole = rows_of(pick(rng));
    if (rng.uniform() < 0.5) return whole;
    return rng.uniform_int(shortest(whole), whole);
  }
  std::pair<std::int64_t, std::int64_t> sizes(std::int64_t, std::int64_t) const override {
    std::int64_t low = rows_of(subjects_.front()), high = 1;
    for (const Subject& subject : subjects_) {
      low = std::min(low, shortest(rows_of(subject)));
      high = std::max(high, rows_of(subject));
    }
    return {low, high};
  }
  bool needs_n() const override { return false; }
  std::vector<std::string> files() const override {
    return path_.empty() ? std::vector<std::string>() : std::vector{path_};
  }

  // A stretch of a subject's rows from a random first one; where more are wanted than there are, all of them
  // and from the beginning again.
  void fill(Rng& rng, std::int64_t n, std::span<float> rows) const override {
    const Stretch stretch = choose(rng, n);
    for (std::int64_t row = 0; row < n; ++row) {
      const float* values = row_of(stretch, row);
      for (std::size_t c = 0; c < given_; ++c) rows[static_cast<std::size_t>(row * D_ + at_[c])] = values[c];
    }
  }

  void take_away(Rng& rng, MutableData data) const override {
    if (given_ == at_.size()) return;
    const Stretch stretch = choose(rng, data.n);
    for (std::int64_t row = 0; row < data.n; ++row) {
      const float* values = row_of(stretch, row);
      for (std::size_t c = given_; c < at_.size(); ++c) {
        if (values[c] != 0) data.at(row, at_[c]) = std::numeric_limits<float>::quiet_NaN();
      }
    }
  }

  nlohmann::json json() const override {
    nlohmann::json subjects = nlohmann::json::array();
    const std::size_t width = at_.size();
    for (const Subject& subject : subjects_) {
      nlohmann::json columns = nlohmann::json::array();
      for (std::size_t c = 0; c < width; ++c) {
        nlohmann::json column = nlohmann::json::array();
        for (std::size_t i = c; i < subject.size(); i += width) {
          const double value = subject[i];
          // Whole numbers as such, for a text of a third of the length.
          if (value == std::floor(value) && std::abs(value) < 1e15) {
            column.push_back(static_cast<std::int64_t>(value));
          } else {
            column.push_back(value);
          }
        }
        columns.push_back(std::move(column));
      }
      subjects.push_back(std::move(columns));
    }
    const auto middle = names_.begin() + static_cast<std::ptrdiff_t>(given_);
    nlohmann::json table = {{"from", from_},
                            {"by", by_},
                            {"columns", std::vector<std::string>(names_.begin(), middle)},
                            {"subjects", std::move(subjects)}};
    if (middle != names_.end()) table["missing"] = std::vector<std::string>(middle, names_.end());
    return table;
  }

 private:
  // Rows of a subject from `first` on.
  struct Stretch {
    const Subject& subject;
    std::int64_t whole, first;
  };
  Stretch choose(Rng& rng, std::int64_t n) const {
    Rng start = rng;
    const Subject& subject = pick(start);
    const std::int64_t whole = rows_of(subject);
    size(rng, n);  // passes over what that drew
    return {subject, whole, n < whole ? rng.uniform_int(0, whole - n) : 0};
  }
  const float* row_of(const Stretch& stretch, std::int64_t row) const {
    const std::int64_t at = (stretch.first + row) % stretch.whole;
    return stretch.subject.data() + static_cast<std::size_t>(at) * at_.size();
  }
  static std::int64_t shortest(std::int64_t whole) { return std::max<std::int64_t>(1, whole / 10); }
  std::int64_t rows_of(const Subject& subject) const {
    return static_cast<std::int64_t>(subject.size() / at_.size());
  }
  const Subject& pick(Rng& rng) const {
    const auto last = static_cast<std::int64_t>(subjects_.size()) - 1;
    return subjects_[static_cast<std::size_t>(rng.uniform_int(0, last))];
  }

  std::string path_, from_, by_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> at_;  // places of the columns
  std::size_t given_;             // how many of them are the design's
  std::vector<Subject> subjects_;
  std::int64_t D_;
};

void refuse_nameless(const CsvReader& reader, std::size_t column) {
  try {
    reader.refuse_missing(column);
  } catch (const Error& error) {
    throw Error(error.kind(), "{}, so the row is of nobody; fill it in, or leave such rows out of the file",
                error.what());
  }
}

// `labels`: names of columns whose values may be called anything.
std::vector<TakenDesign::Subject> read_subjects(const std::string& path, const std::string& by,
                                                const std::vector<std::string>& names,
                                                const std::vector<std::string>& labels,
                                                std::size_t patterns) {
  CsvReader reader = CsvReader::open(path);
  std::vector<std::size_t> columns;
  std::vector<bool> is_label;
  for (const std::string& name : names) {
    columns.push_back(reader.column_index(name));
    is_label.push_back(std::find(labels.begin(), labels.end(), name) != labels.end());
  }
  LabelNames known;
  const std::size_t key = by.empty() ? 0 : reader.column_index(by);
  std::unordered_map<std::string, std::size_t> index;
  std::vector<TakenDesign::Subject> subjects;
  while (reader.next()) {
    if (!by.empty()) refuse_nameless(reader, key);
    const std::string id = by.empty() ? std::string() : std::string(reader.label(key));
    const auto [place, fresh] = index.try_emplace(id, subjects.size());
    if (fresh) subjects.emplace_back();
    TakenDesign::Subject& subject = subjects[place->second];
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const bool mask = c + patterns >= columns.size();
      if (const auto number = is_label[c] ? known.number(reader.label(columns[c])) : std::nullopt) {
        subject.push_back(*number);
        continue;
      }
      const double value = reader.number(columns[c], mask ? MissingValues::keep_nan : MissingValues::refuse);
      subject.push_back(mask ? (std::isnan(value) ? 1.0f : 0.0f) : static_cast<float>(value));
    }
  }
  if (subjects.empty()) throw Error(ErrorKind::bad_data, "{}: there is a header but no data", path);
  return subjects;
}

std::vector<TakenDesign::Subject> subjects_of(const json& list, std::size_t width) {
  const auto bad = [] { refuse("subjects", "expected a list of columns for every subject"); };
  std::vector<TakenDesign::Subject> subjects;
  for (const json& columns : list) {
    if (!columns.is_array() || columns.size() != width || columns[0].empty()) bad();
    const std::size_t rows = columns[0].size();
    TakenDesign::Subject& subject = subjects.emplace_back(rows * width);
    for (std::size_t c = 0; c < width; ++c) {
      if (!columns[c].is_array() || columns[c].size() != rows) bad();
      for (std::size_t r = 0; r < rows; ++r) {
        if (!columns[c][r].is_number()) bad();
        subject[r * width + c] = columns[c][r].get<float>();
      }
    }
  }
  if (subjects.empty()) bad();
  return subjects;
}

std::shared_ptr<const Design> make_taken(const json& table, const std::vector<std::string>& names,
                                         const std::vector<std::string>& labels,
                                         const std::vector<std::int64_t>& at, std::size_t patterns,
                                         std::int64_t D, const std::string& folder) {
  const std::vector<std::string> known = {"from", "by", "columns", "missing", "subjects"};
  for (const auto& [key, value] : table.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      refuse(key, fmt::format("not known beside `from`{}", did_you_mean(key, known)));
    }
  }
  const auto text = [&](const char* key) -> std::string {
    if (!table.contains(key)) return "";
    if (!table[key].is_string()) refuse(key, "expected text in quotes");
    return table[key].get<std::string>();
  };
  const std::string from = text("from");
  const std::string by = text("by");
  if (table.contains("subjects")) {
    const auto middle = names.end() - static_cast<std::ptrdiff_t>(patterns);
    if (table.value("columns", json()) != json(std::vector(names.begin(), middle))) {
      refuse("columns",
             fmt::format("expected the design columns {}", fmt::join(names.begin(), middle, ", ")));
    }
    if (table.value("missing", json::array()) != json(std::vector(middle, names.end()))) {
      refuse("missing", "expected the columns with missing = \"from\", as the subjects have their patterns");
    }
    return std::make_shared<TakenDesign>("", from, by, names, at, patterns,
                                         subjects_of(table["subjects"], names.size()), D);
  }
  if (folder.empty()) {
    throw Error(ErrorKind::no_input,
                "design: the file '{}' is not at hand; name the problem file (--problem)", from);
  }
  const std::string path = (std::filesystem::path(folder) / from).string();
  return std::make_shared<TakenDesign>(path, from, by, names, at, patterns,
                                       read_subjects(path, by, names, labels, patterns), D);
}

}  // namespace

std::int64_t Design::size(Rng&, std::int64_t drawn) const {
  return drawn;
}

std::pair<std::int64_t, std::int64_t> Design::sizes(std::int64_t low, std::int64_t high) const {
  return {low, high};
}

std::shared_ptr<const Design> make_design(const json& table, const std::vector<Column>& columns,
                                          const std::string& folder,
                                          const std::vector<std::string>& patterns) {
  std::vector<std::string> names, labels;
  std::vector<std::int64_t> at;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].given()) continue;
    if (columns[c].role == Role::label) labels.push_back(columns[c].name);
    names.push_back(columns[c].name);
    at.push_back(static_cast<std::int64_t>(c));
  }
  const bool taken = table.contains("from") || table.contains("subjects");
  if (names.empty() && !(taken && !patterns.empty())) {
    throw Error(ErrorKind::bad_config,
                "there is a [design], but no column of the data has role = \"design\"");
  }
  const auto D = static_cast<std::int64_t>(columns.size());
  if (taken) {
    const std::size_t given = names.size();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (std::find(patterns.begin(), patterns.end(), columns[c].name) == patterns.end()) continue;
      names.push_back(columns[c].name);
      at.push_back(static_cast<std::int64_t>(c));
    }
    return make_taken(table, names, labels, at, names.size() - given, D, folder);
  }
  bool factorial = false;
  for (const auto& [key, value] : table.items()) {
    if (key == "factorial") {
      if (!value.is_boolean()) refuse(key, "expected true or false");
      factorial = value.get<bool>();
    } else if (std::find(names.begin(), names.end(), key) == names.end()) {
      refuse(key, fmt::format("no design column has this name{}", did_you_mean(key, names)));
    }
  }
  std::vector<DesignColumn> made;
  std::size_t cells = 1;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!table.contains(names[c])) {
      refuse(names[c], "where do its values come from? Expected levels, a prior, or from = \"FILE.csv\"");
    }
    made.push_back(column_of(names[c], at[c], table[names[c]]));
    const DesignColumn& column = made.back();
    if (factorial && column.has_levels() && (column.constant || column.shares.kind != Shares::Kind::equal)) {
      refuse(names[c], "a factorial design has all combinations of levels equally often");
    }
    if (!factorial || !column.has_levels()) continue;
    if (column.levels.size() > kMostCells / cells) {
      refuse("factorial", fmt::format("the levels have more than {} combinations", kMostCells));
    }
    cells *= column.levels.size();
  }
  return std::make_shared<GeneratedDesign>(std::move(made), factorial, D);
}

}  // namespace occam

#include "occam/page/session.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/group/group_writer.hpp"
#include "occam/group/groups.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/shown.hpp"
#include "occam/io/toml_file.hpp"
#include "occam/io/toml_library.hpp"
#include "occam/networks/network_text.hpp"
#include "occam/page/guess.hpp"

namespace occam {

using nlohmann::json;

namespace {

constexpr std::size_t kSampleRows = 200;                 // that are looked at for guesses and the preview
constexpr std::int64_t kMostSets = 200'000;              // answers that are kept
constexpr std::size_t kMostKept = std::size_t{1} << 24;  // numbers kept for evidence over N (64 MB)

// "# Column rt: response time [s]." in the text of a problem, for columns that a built-in family explains.
std::string told_meaning(const std::string& problem, const std::string& column) {
  const std::string opening = "# Column " + column + ": ";
  const auto at = problem.starts_with(opening) ? 0 : problem.find("\n" + opening);
  if (at == std::string::npos) return "";
  const auto begin = at + opening.size() + (at == 0 && problem.starts_with(opening) ? 0 : 1);
  std::string line = problem.substr(begin, problem.find('\n', begin) - begin);
  if (line.ends_with('.')) line.pop_back();
  return line;
}

// Description and, where the file has them, meanings of columns; the text may be anything.
void add_problem(const NetworkFile& file, json& columns, json& result) {
  result["description"] = "";
  toml::table table;
  try {
    table = parse_toml(file.problem, "problem");
  } catch (const Error&) {
    return;  // a page can do without
  }
  if (const auto text = table["description"].value<std::string>()) result["description"] = *text;
  const toml::table* told = table["columns"].as_table();
  for (std::size_t c = 0; c < file.columns.size(); ++c) {
    const toml::node* node = told == nullptr ? nullptr : told->get(file.columns[c]);
    std::string meaning, unit;
    if (node != nullptr && node->is_string()) meaning = node->value_or(std::string());
    if (node != nullptr && node->is_table()) {
      meaning = (*node->as_table())["description"].value_or(std::string());
      unit = (*node->as_table())["unit"].value_or(std::string());
    }
    if (node == nullptr) meaning = told_meaning(file.problem, file.columns[c]);
    if (unit.empty()) unit = unit_in(meaning);
    columns[c]["meaning"] = meaning;
    columns[c]["unit"] = unit;
  }
}

json number_or_null(double value) {
  return std::isfinite(value) ? json(value) : json();
}

json column_json(const NetworkFile& file, std::size_t c, const std::vector<bool>& design) {
  const auto& missing = file.config.missing;
  const auto place = static_cast<std::int64_t>(c);
  json column{{"name", file.columns[c]},
              {"meaning", ""},
              {"unit", ""},
              {"design", static_cast<bool>(design[c])},
              {"may_miss", std::find(missing.begin(), missing.end(), place) != missing.end()},
              {"range", json()}};
  if (c < file.ranges.size()) {
    const ColumnRange& range = file.ranges[c];
    column["range"] = {range.smallest, range.largest, range.low, range.high};
  }
  return column;
}

// A cell of answers as the page gets it.
json page_cell(const AnswerCell& cell) {
  return std::visit(
      [](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::monostate>) {
          return json();
        } else if constexpr (std::is_same_v<Value, double>) {
          return std::isfinite(value) ? json(value)
                                      : json(std::isnan(value) ? "NaN"
                                             : value > 0       ? "Inf"
                                                               : "-Inf");
        } else {
          return json(value);
        }
      },
      cell);
}

// Answers under another model prior, with the verdicts that follow.
Answered under_prior(const Answered& kept, const json& options) {
  const json prior = options.value("model_prior", json());
  Answered result = kept;
  if (!prior.is_null()) result.answers = kept.answers.with_model_prior(prior.get<std::vector<double>>());
  result.extras.verdicts = verdicts_on(result.answers, result.extras, VerdictOptions{});
  return result;
}

class PageNotes final : public ProgressSink {
 public:
  void update(std::int64_t, std::int64_t, std::string_view) override {}
  void say(std::string_view message) override { notes.emplace_back(message); }

  std::vector<std::string> notes;
};

std::string stem_of(const std::string& name) {
  const auto dot = name.find_last_of('.');
  return dot == 0 || dot == std::string::npos ? name : name.substr(0, dot);
}

}  // namespace

// All answers under the prior of the training, in the chunks that they came in.
class PageSession::Collected {
 public:
  struct Chunk {
    Answered answered;
    std::vector<std::string> ids, groups;
    std::vector<std::int64_t> dropped;
    std::vector<float> data;  // empty where it would be too much
    std::vector<std::int64_t> offsets;
  };

  Collected(const NetworkFile& file, ThreadPool& pool)
      : comparison_(file, {}, pool), columns_(static_cast<std::int64_t>(file.columns.size())), pool_(pool) {}

  void take(const ObservedSets& sets) {
    if (comparison_.answered() + sets.data.sets > kMostSets) {
      throw Error(ErrorKind::bad_data,
                  "more than {} data sets: too many for a page; the program `occam compare` takes any number",
                  kMostSets);
    }
    Chunk chunk{comparison_.answer(sets), sets.ids, sets.groups, sets.dropped, {}, {}};
    chunk.answered.extras.summary = {};  // large, and not shown
    const std::int64_t rows = sets.data.offsets[sets.data.sets];
    numbers_ += static_cast<std::size_t>(rows * columns_);
    if (numbers_ <= kMostKept) {
      chunk.data.assign(sets.data.x.row(0), sets.data.x.row(0) + rows * columns_);
      chunk.offsets.assign(sets.data.offsets, sets.data.offsets + sets.data.sets + 1);
    }
    for (std::int64_t b = 0; b < sets.data.sets; ++b) sizes_.push_back(sets.data.size(b));
    chunks_.push_back(std::move(chunk));
  }

  const Comparison& comparison() const { return comparison_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  std::int64_t columns() const { return columns_; }
  bool grouped = false;  // a column told groups apart

  // Made when it is first asked for.
  Comparison& courses(const NetworkFile& file) {
    if (!courses_) {
      ComparisonOptions options;
      options.summary = false;
      options.sequential = SequentialOptions{};
      courses_.emplace(file, options, pool_);
    }
    return *courses_;
  }

 private:
  Comparison comparison_;
  std::optional<Comparison> courses_;
  std::int64_t columns_;
  ThreadPool& pool_;
  std::vector<Chunk> chunks_;
  std::vector<std::int64_t> sizes_;
  std::size_t numbers_ = 0;
};

PageSession::PageSession() : pool_(1) {}
PageSession::~PageSession() = default;

const NetworkFile& PageSession::network() const {
  if (!file_) throw Error(ErrorKind::usage, "there is no network yet");
  return *file_;
}

const PageSession::Collected& PageSession::collected() const {
  if (!collected_) throw Error(ErrorKind::usage, "no data have been compared yet");
  return *collected_;
}

json PageSession::open_network(std::string_view bytes, const std::string& name) {
  collected_.reset();
  read_ = nullptr;
  file_.reset();
  NetworkFile file = network_from_safetensors(parse_safetensors(bytes, name), name);
  file.path = name;
  scope_of(file);  // what is described is whole
  json result = network_json(file);
  json columns = json::array();
  const std::vector<bool> design = file.design.is_design(static_cast<std::int64_t>(file.columns.size()));
  for (std::size_t c = 0; c < file.columns.size(); ++c) columns.push_back(column_json(file, c, design));
  add_problem(file, columns, result);
  result["columns"] = columns;
  result["scope"] = !file.scope.is_null();
  result["doubt"] = file.doubt();
  units_.clear();
  for (const json& column : columns) units_.push_back(column["unit"].get<std::string>());
  file_ = std::move(file);
  return result;
}

CsvReader PageSession::open_csv(const CsvOptions& options, const PageProgress& progress) const {
  if (!read_) throw Error(ErrorKind::usage, "there are no data yet");
  return CsvReader(
      [read = read_, progress, offset = std::uint64_t{0}](std::span<char> out) mutable {
        const std::size_t count = read(offset, out);
        offset += count;
        if (progress) progress(offset, 0);
        return count;
      },
      data_name_, options);
}

json PageSession::open_data(ReadAt read, const json& options) {
  collected_.reset();
  read_ = std::move(read);
  data_name_ = shown(options.value("name", std::string("data")));
  format_.separator = options.value("separator", std::string("auto"));
  format_.decimal = options.value("decimal", std::string("auto"));
  PageNotes notes;
  CsvOptions csv;
  csv.format = format_;
  csv.notes = &notes;
  CsvReader reader = open_csv(csv, nullptr);
  const std::vector<std::string>& header = reader.columns();
  json rows = json::array();
  std::vector<std::vector<double>> numbers(header.size());
  while (rows.size() < kSampleRows && reader.next()) {
    json row = json::array();
    for (std::size_t c = 0; c < header.size(); ++c) {
      row.push_back(std::string(reader.text(c)));
      try {
        const double value = reader.number(c, MissingValues::keep_nan);
        if (std::isfinite(value)) numbers[c].push_back(value);
      } catch (const Error&) {  // a word
      }
    }
    rows.push_back(std::move(row));
  }
  const std::vector<int> columns = guess_columns(network().columns, header);
  json factors = json::array(), factors_of = json::array();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    json row = json::array();
    for (std::size_t h = 0; h < header.size(); ++h) row.push_back(guess_factor(c, header[h], numbers[h]));
    factors.push_back(columns[c] < 0 ? json(1) : row[static_cast<std::size_t>(columns[c])]);
    factors_of.push_back(std::move(row));
  }
  int by = guess_by(header, columns);
  // Otherwise the first column of words.
  for (std::size_t c = 0; c < header.size() && by < 0 && !rows.empty(); ++c) {
    const bool is_taken = std::find(columns.begin(), columns.end(), static_cast<int>(c)) != columns.end();
    if (!is_taken && numbers[c].empty()) by = static_cast<int>(c);
  }
  return {{"header", header},
          {"rows", rows},
          {"notes", notes.notes},
          {"guess",
           {{"columns", columns},
            {"factors", factors},
            {"factors_of", factors_of},
            {"by", by},
            {"by_too", guess_by_too(header, columns, by)}}}};
}

double PageSession::guess_factor(std::size_t column, const std::string& header,
                                 const std::vector<double>& numbers) const {
  if (column >= network().ranges.size()) return 1;
  if (!units_[column].empty() && units_[column] != "s") return 1;
  const ColumnRange& range = network().ranges[column];
  return looks_like_thousandths(header, numbers, range.smallest, range.largest) ? 1e-3 : 1;
}

ObservedOptions PageSession::reading(const json& options) const {
  const NetworkFile& file = network();
  ObservedOptions reading;
  reading.columns = options.at("columns").get<std::vector<std::string>>();
  if (reading.columns.size() != file.columns.size())
    throw Error(ErrorKind::usage, "the network has {} columns, {} are given", file.columns.size(),
                reading.columns.size());
  reading.factors = options.value("factors", std::vector<double>());
  if (!reading.factors.empty() && reading.factors.size() != file.columns.size())
    throw Error(ErrorKind::usage, "there is not one factor for each column");
  reading.by = options.value("by", std::vector<std::string>());
  reading.by_dataset = false;
  reading.group = options.value("group", std::string());
  reading.may_miss = file.config.missing;
  reading.labels = file.labels;
  reading.missing =
      options.value("missing", std::string("drop")) == "drop" ? MissingRows::drop : MissingRows::refuse;
  reading.missing_advice = reading.nameless_advice = "choose to leave such rows out";
  reading.csv = format_;
  reading.chunk_sets = 64;  // so that progress shows
  return reading;
}

json PageSession::preview(const json& options) const {
  const ObservedOptions how = reading(options);
  CsvOptions csv;
  csv.format = format_;
  CsvReader reader = open_csv(csv, nullptr);
  std::vector<std::size_t> columns, by;
  for (const std::string& column : how.columns) columns.push_back(reader.column_index(column));
  for (const std::string& column : how.by) by.push_back(reader.column_index(column));
  json rows = json::array();
  while (rows.size() < kSampleRows && reader.next()) {
    json row{{"line", reader.line()}, {"values", json::array()}, {"set", ""}, {"fault", ""}};
    std::vector<std::string> set;
    for (const std::size_t column : by) set.emplace_back(reader.text(column));
    row["set"] = fmt::format("{}", fmt::join(set, "/"));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      try {
        const double value = reader.number(columns[c], MissingValues::keep_nan);
        row["values"].push_back(number_or_null(value * (how.factors.empty() ? 1 : how.factors[c])));
      } catch (const Error& error) {
        row["values"].push_back(json());
        row["fault"] = error.what();
      }
    }
    rows.push_back(std::move(row));
  }
  return {{"rows", rows}};
}

json PageSession::compare(const json& options, const PageProgress& progress) {
  const ObservedOptions asked = reading(options);
  file_->caution = options.value("caution", std::string());
  collected_.reset();
  auto collected = std::make_unique<Collected>(network(), pool_);
  collected->grouped = !asked.group.empty();
  PageNotes notes;
  ObservedOptions how = asked;
  how.notes = &notes;
  std::int64_t sets = 0;
  const PageProgress tell = [&](std::uint64_t bytes, std::int64_t) {
    if (progress) progress(bytes, sets);
  };
  const ObservedCsv data{[&](const CsvOptions& csv) { return open_csv(csv, tell); }, stem_of(data_name_)};
  const ObservedSummary left_out = read_observed(data, how, [&](const ObservedSets& some) {
    collected->take(some);
    sets += some.data.sets;
    if (progress) progress(0, sets);
  });
  if (sets == 0) throw Error(ErrorKind::bad_data, "no data set has a row without a missing value");
  std::vector<std::int64_t> sizes = collected->sizes();
  const auto rows = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::sort(sizes.begin(), sizes.end());
  json result{{"sets", sets},
              {"rows", rows},
              {"sizes", {sizes.front(), sizes[sizes.size() / 2], sizes.back()}},
              {"dropped_rows", left_out.dropped_rows},
              {"lost_sets", left_out.lost_sets},
              {"notes", notes.notes},
              {"warnings", collected->comparison().warnings()},
              {"groups", collected->grouped},
              {"ordered", network().ordered}};
  collected_ = std::move(collected);
  return result;
}

json PageSession::answers(const json& options) const {
  const auto first = options.value("first", std::int64_t{0});
  const auto count = options.value("count", std::int64_t{100});
  const AnswerTable& table = collected().comparison().columns();
  json rows = json::array();
  std::map<std::string, std::int64_t> verdicts;
  std::vector<std::int64_t> best(network().model_names.size());
  std::vector<double> mean(best.size());
  std::int64_t at = 0;
  for (const Collected::Chunk& chunk : collected().chunks()) {
    const Answered answered = under_prior(chunk.answered, options);
    for (std::int64_t b = 0; b < answered.answers.size(); ++b, ++at) {
      ++verdicts[std::string(word(answered.extras.verdicts[static_cast<std::size_t>(b)].verdict))];
      ++best[static_cast<std::size_t>(answered.answers.best(b))];
      const std::vector<double> p = answered.answers.probabilities(b);
      for (std::size_t j = 0; j < p.size(); ++j) mean[j] += p[j];
      if (at < first || at >= first + count) continue;
      json row = json::array();
      for (const AnswerCell& cell : table.row(answered.answers, answered.extras, b))
        row.push_back(page_cell(cell));
      rows.push_back(std::move(row));
    }
  }
  for (double& share : mean) share /= static_cast<double>(std::max<std::int64_t>(1, at));
  return {{"columns", table.names()}, {"rows", rows}, {"total", at},
          {"verdicts", verdicts},     {"best", best}, {"mean", mean}};
}

std::string PageSession::answer_file(const json& options) const {
  const AnswerTable& table = collected().comparison().columns();
  const std::string format = options.value("format", std::string("csv"));
  std::string text;
  const auto writer = make_answer_writer(
      "answers." + format, [&](std::string_view part) { text += part; }, network(), table.names());
  for (const Collected::Chunk& chunk : collected().chunks()) {
    const Answered answered = under_prior(chunk.answered, options);
    for (std::int64_t b = 0; b < answered.answers.size(); ++b)
      writer->add(table.row(answered.answers, answered.extras, b));
  }
  writer->end(json::object());
  return text;
}

json PageSession::course(const json& options) {
  collected();
  auto set = options.at("set").get<std::int64_t>();
  for (const Collected::Chunk& chunk : collected_->chunks()) {
    const auto sets = static_cast<std::int64_t>(chunk.ids.size());
    if (set >= sets) {
      set -= sets;
      continue;
    }
    if (set < 0) break;
    if (chunk.data.empty()) return {{"k", json::array()}, {"p", json::array()}, {"too_large", true}};
    const std::int64_t D = collected_->columns();
    const ObservedSets observed{chunk.ids,
                                {{chunk.data.data(), chunk.offsets.back(), D, D}, chunk.offsets.data(), sets},
                                chunk.groups,
                                chunk.dropped};
    // The comparison keeps summaries, which were not kept here: those of the whole data set do not matter.
    Answered whole = chunk.answered;
    Comparison& courses = collected_->courses(network());
    whole.extras.summary.assign(static_cast<std::size_t>(sets * courses.summary_width()), 0);
    const Answered course = under_prior(courses.course(observed, set, whole), options);
    json k = json::array(), p = json::array();
    for (std::int64_t b = 0; b < course.answers.size(); ++b) {
      k.push_back(course.answers.n(b));
      p.push_back(course.answers.probabilities(b));
    }
    return {{"k", k}, {"p", p}, {"too_large", false}};
  }
  throw Error(ErrorKind::usage, "there is no data set of that number");
}

json PageSession::groups(const json& options) const {
  const json prior = options.value("model_prior", json());
  ModelPosterior empty = collected().comparison().empty_answers();
  if (!prior.is_null()) empty = empty.with_model_prior(prior.get<std::vector<double>>());
  GroupCollector collector(empty);
  for (const Collected::Chunk& chunk : collected().chunks()) {
    const Answered answered = under_prior(chunk.answered, options);
    collector.add(answered.answers,
                  collected().grouped ? chunk.groups : std::vector<std::string>(chunk.ids.size(), "all"),
                  left_out_of_group(answered));
  }
  const GroupComparison population = collector.compare({}, pool_);
  json result = groups_json(population);
  result["difference_sentence"] = difference_sentence(population);
  result["effects_sentence"] = effects_sentence();
  return result;
}

}  // namespace occam

#include "occam/compare/answer_writer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/io/csv.hpp"

namespace occam {
namespace {

using nlohmann::json;

class CsvAnswers final : public AnswerWriter {
 public:
  CsvAnswers(ByteSink sink, const std::vector<std::string>& columns, char delimiter)
      : writer_(std::move(sink), columns, delimiter) {}

  void add(const std::vector<AnswerCell>& row) override {
    for (const AnswerCell& cell : row) {
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
              writer_.missing();
            } else {
              writer_.cell(value);
            }
          },
          cell);
    }
    writer_.end_row();
  }
  void end() override {}

 private:
  CsvWriter writer_;
};

json cell_json(const AnswerCell& cell) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return json();
        } else {
          return json(value);
        }
      },
      cell);
}

class JsonAnswers final : public AnswerWriter {
 public:
  JsonAnswers(ByteSink sink, std::vector<std::string> columns, const NetworkFile& file)
      : sink_(std::move(sink)), columns_(std::move(columns)) {
    sink_(fmt::format("{{\n  \"problem\": {},\n  \"fingerprint\": {},\n  \"models\": {},\n  \"data_sets\": [",
                      json(file.problem_name).dump(), json(file.fingerprint).dump(),
                      json(file.model_names).dump()));
  }

  void add(const std::vector<AnswerCell>& row) override {
    // In the order of the columns, which a json object would not keep.
    std::string text = first_ ? "\n    {" : ",\n    {";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", json(columns_[i]).dump(), cell_json(row[i]).dump());
    }
    sink_(text + "}");
    first_ = false;
  }
  void end() override { sink_("\n  ]\n}\n"); }

 private:
  ByteSink sink_;
  std::vector<std::string> columns_;
  bool first_ = true;
};

}  // namespace

std::vector<DataSetVerdict> verdicts_on(const ModelPosterior& answers, const AnswerExtras& extras,
                                        const VerdictOptions& options) {
  std::vector<DataSetVerdict> verdicts;
  for (std::int64_t b = 0; b < answers.size(); ++b) {
    const auto scope =
        extras.scope.empty() ? std::nullopt : std::optional(extras.scope[static_cast<std::size_t>(b)]);
    verdicts.push_back(verdict_on(answers, b, scope, options));
  }
  return verdicts;
}

AnswerColumns::AnswerColumns(const NetworkFile& file, bool estimates, std::int64_t summary_width)
    : names_({"dataset", "n", "best"}),
      ensemble_(file.members.size() > 1),
      spread_(ensemble_ || file.config.head_kind().samples),
      concentrations_(file.config.head_kind().concentrations),
      scope_(!file.scope.is_null()),
      scope_by_model_(scope_ && file.scope.value("by_model", false)),
      estimates_(estimates),
      summary_width_(static_cast<std::size_t>(summary_width)) {
  const auto per_model = [&](const char* prefix) {
    for (const std::string& model : file.model_names) names_.push_back(prefix + model);
  };
  per_model("p_");
  per_model("alpha_");
  per_model("log_bf_");
  names_.insert(names_.end(), {"u", "flag"});
  if (spread_) per_model("spread_");
  if (ensemble_) names_.push_back("agreement");
  if (scope_) names_.push_back("scope_p");
  if (scope_by_model_) per_model("scope_p_");
  names_.insert(names_.end(), {"verdict", "explanation"});
  if (estimates_) {
    for (const std::string& parameter : file.parameter_names) names_.push_back("estimate_" + parameter);
  }
  for (std::size_t s = 0; s < summary_width_; ++s) names_.push_back(fmt::format("summary_{}", s + 1));
}

std::vector<AnswerCell> AnswerColumns::row(const ModelPosterior& answers, const AnswerExtras& extras,
                                           std::int64_t b) const {
  const std::int64_t best = answers.best(b);
  std::vector<AnswerCell> cells = {answers.id(b), answers.n(b),
                                   answers.model_names()[static_cast<std::size_t>(best)]};
  const auto per_model = [&](const auto& value) {
    for (std::int64_t j = 0; j < answers.J(); ++j) cells.emplace_back(value(j));
  };
  const auto known = [](double value) { return std::isnan(value) ? AnswerCell() : AnswerCell(value); };
  const std::vector<double> p = answers.probabilities(b);
  per_model([&](std::int64_t j) { return p[static_cast<std::size_t>(j)]; });
  per_model([&](std::int64_t j) {
    return concentrations_ ? AnswerCell(std::exp(answers.log_alpha(b, j))) : AnswerCell();
  });
  per_model([&](std::int64_t j) { return answers.log_bayes_factor(b, j, best); });
  cells.push_back(known(answers.uncertainty(b)));
  cells.emplace_back(answers.flag(b));
  if (spread_) per_model([&](std::int64_t j) { return known(answers.spread(b, j)); });
  if (ensemble_) cells.emplace_back(answers.agreement(b));
  const auto at = static_cast<std::size_t>(b);
  if (scope_) cells.emplace_back(extras.scope[at].p);
  if (scope_by_model_)
    per_model([&](std::int64_t j) { return extras.scope[at].by_model[static_cast<std::size_t>(j)]; });
  cells.emplace_back(extras.verdicts[at].word);
  cells.emplace_back(extras.verdicts[at].explanation);
  const std::size_t P = extras.estimates.names.size();
  for (std::size_t i = 0; estimates_ && i < P; ++i) {
    cells.push_back(known(extras.estimates.values[at * P + i]));
  }
  for (std::size_t s = 0; s < summary_width_; ++s) {
    cells.emplace_back(static_cast<double>(extras.summary[at * summary_width_ + s]));
  }
  return cells;
}

std::unique_ptr<AnswerWriter> make_answer_writer(const std::string& path, ByteSink sink,
                                                 const NetworkFile& file,
                                                 const std::vector<std::string>& columns) {
  if (path.ends_with(".json")) return std::make_unique<JsonAnswers>(std::move(sink), columns, file);
  if (path.ends_with(".csv")) return std::make_unique<CsvAnswers>(std::move(sink), columns, ',');
  if (path.ends_with(".tsv")) return std::make_unique<CsvAnswers>(std::move(sink), columns, '\t');
  throw Error(ErrorKind::usage, "{}: answers are written as .csv, .tsv or .json", path);
}

namespace {

// Room for the ids at hand, and for those to come.
std::size_t id_width(const ModelPosterior& answers) {
  std::size_t width = 12;
  for (std::int64_t b = 0; b < answers.size(); ++b) width = std::max(width, answers.id(b).size());
  return std::min<std::size_t>(width, 40);
}

}  // namespace

std::string answer_header(const ModelPosterior& answers, bool scope) {
  return fmt::format("{:<{}}  {:>6}  {}{:<12}  models by probability\n", "data set", id_width(answers), "n",
                     scope ? "scope_p  " : "", "verdict");
}

std::string answer_lines(const ModelPosterior& answers, const AnswerExtras& extras, std::int64_t rows) {
  constexpr std::size_t kShown = 4;  // models per line, most probable first
  const std::size_t width = id_width(answers);
  std::string text;
  for (std::int64_t b = 0; b < std::min(rows, answers.size()); ++b) {
    const auto at = static_cast<std::size_t>(b);
    std::vector<std::int64_t> order(static_cast<std::size_t>(answers.J()));
    std::iota(order.begin(), order.end(), 0);
    const std::vector<double> p = answers.probabilities(b);
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return p[i] > p[j]; });
    text += fmt::format("{:<{}}  {:>6}  ", answers.id(b), width, answers.n(b));
    if (!extras.scope.empty()) text += fmt::format("{:>7.3f}  ", extras.scope[at].p);
    text += fmt::format("{:<12} ", extras.verdicts[at].word);
    for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
      text +=
          fmt::format(" {} {:.3f}", answers.model_names()[static_cast<std::size_t>(order[i])], p[order[i]]);
    }
    if (order.size() > kShown) text += " ...";
    if (!answers.flag(b).empty()) text += fmt::format("  ! {}", answers.flag(b));
    if (extras.verdicts[at].word == "out-of-scope")
      text += fmt::format("\n    {}", extras.verdicts[at].explanation);
    text += '\n';
  }
  return text;
}

}  // namespace occam

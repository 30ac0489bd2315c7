#include "occam/compare/answer_writer.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/shown.hpp"

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
  for (std::int64_t b = 0; b < answers.size(); ++b) width = std::max(width, shown(answers.id(b)).size());
  return std::min<std::size_t>(width, 40);
}

// Whether the probabilities mean little, which has to be said at once.
bool must_explain(VerdictKind verdict) {
  return verdict == VerdictKind::out_of_scope || verdict == VerdictKind::outside_training;
}

}  // namespace

std::string answer_header(const ModelPosterior& answers, bool scope) {
  return fmt::format("{:<{}}  {:>6}  {}{:<16}  models by probability\n", "data set", id_width(answers), "n",
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
    text += fmt::format("{:<{}}  {:>6}  ", shown(answers.id(b)), width, answers.n(b));
    if (!extras.scope.empty()) text += fmt::format("{:>7.3f}  ", extras.scope[at].p);
    text += fmt::format("{:<16} ", word(extras.verdicts[at].verdict));
    for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
      text +=
          fmt::format(" {} {:.3f}", answers.model_names()[static_cast<std::size_t>(order[i])], p[order[i]]);
    }
    if (order.size() > kShown) text += " ...";
    if (must_explain(extras.verdicts[at].verdict))
      text += fmt::format("\n    {}", extras.verdicts[at].explanation);
    text += '\n';
  }
  return text;
}

}  // namespace occam

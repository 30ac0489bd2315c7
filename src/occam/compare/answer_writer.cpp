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

std::vector<std::string> column_names(const std::vector<std::string>& models,
                                      const std::vector<std::string>& parameters) {
  std::vector<std::string> names = {"dataset", "n", "best"};
  for (const char* prefix : {"p_", "alpha_", "log_bf_"}) {
    for (const std::string& model : models) names.push_back(prefix + model);
  }
  names.insert(names.end(), {"u", "flag"});
  for (const std::string& parameter : parameters) names.push_back("estimate_" + parameter);
  return names;
}

// The numbers of one answer, in the order of the columns: p, alpha, log Bayes factors.
std::vector<double> numbers(const ModelPosterior& answers, std::int64_t b) {
  std::vector<double> result = answers.probabilities(b);
  for (std::int64_t j = 0; j < answers.J(); ++j) result.push_back(std::exp(answers.log_alpha(b, j)));
  const std::int64_t best = answers.best(b);
  for (std::int64_t j = 0; j < answers.J(); ++j) result.push_back(answers.log_bayes_factor(b, j, best));
  return result;
}

std::span<const double> estimates_of(const ParameterEstimates& estimates, std::int64_t b) {
  const std::size_t P = estimates.names.size();
  return {estimates.values.data() + static_cast<std::size_t>(b) * P, P};
}

class CsvAnswers final : public AnswerWriter {
 public:
  CsvAnswers(ByteSink sink, const std::vector<std::string>& columns, char delimiter)
      : writer_(std::move(sink), columns, delimiter) {}

  void add(const ModelPosterior& answers, const ParameterEstimates* estimates) override {
    for (std::int64_t b = 0; b < answers.size(); ++b) {
      writer_.cell(answers.id(b)).cell(answers.n(b));
      writer_.cell(answers.model_names()[static_cast<std::size_t>(answers.best(b))]);
      for (const double number : numbers(answers, b)) writer_.cell(number);
      writer_.cell(answers.uncertainty(b)).cell(answers.flag(b));
      if (estimates != nullptr) {
        for (const double value : estimates_of(*estimates, b)) {
          if (std::isnan(value)) {
            writer_.missing();
          } else {
            writer_.cell(value);
          }
        }
      }
      writer_.end_row();
    }
  }
  void end() override {}

 private:
  CsvWriter writer_;
};

class JsonAnswers final : public AnswerWriter {
 public:
  JsonAnswers(ByteSink sink, std::vector<std::string> columns, const NetworkFile& file)
      : sink_(std::move(sink)), columns_(std::move(columns)) {
    sink_(fmt::format("{{\n  \"problem\": {},\n  \"fingerprint\": {},\n  \"models\": {},\n  \"data_sets\": [",
                      json(file.problem_name).dump(), json(file.fingerprint).dump(),
                      json(file.model_names).dump()));
  }

  void add(const ModelPosterior& answers, const ParameterEstimates* estimates) override {
    for (std::int64_t b = 0; b < answers.size(); ++b) {
      std::vector<json> values = {answers.id(b), answers.n(b),
                                  answers.model_names()[static_cast<std::size_t>(answers.best(b))]};
      for (const double number : numbers(answers, b)) values.emplace_back(number);
      values.emplace_back(answers.uncertainty(b));
      values.emplace_back(answers.flag(b));
      if (estimates != nullptr) {
        for (const double value : estimates_of(*estimates, b)) values.emplace_back(value);
      }
      // In the order of the columns, which a json object would not keep.
      std::string text = first_ ? "\n    {" : ",\n    {";
      for (std::size_t i = 0; i < values.size(); ++i) {
        text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", json(columns_[i]).dump(), values[i].dump());
      }
      sink_(text + "}");
      first_ = false;
    }
  }
  void end() override { sink_("\n  ]\n}\n"); }

 private:
  ByteSink sink_;
  std::vector<std::string> columns_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<AnswerWriter> make_answer_writer(const std::string& path, ByteSink sink,
                                                 const NetworkFile& file,
                                                 const std::vector<std::string>& parameters) {
  auto columns = column_names(file.model_names, parameters);
  if (path.ends_with(".json"))
    return std::make_unique<JsonAnswers>(std::move(sink), std::move(columns), file);
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

std::string answer_header(const ModelPosterior& answers) {
  return fmt::format("{:<{}}  {:>6}  {:>6}  models by probability\n", "data set", id_width(answers), "n",
                     "u");
}

std::string answer_lines(const ModelPosterior& answers, std::int64_t rows) {
  constexpr std::size_t kShown = 4;  // models per line, most probable first
  const std::size_t width = id_width(answers);
  std::string text;
  for (std::int64_t b = 0; b < std::min(rows, answers.size()); ++b) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(answers.J()));
    std::iota(order.begin(), order.end(), 0);
    const std::vector<double> p = answers.probabilities(b);
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return p[i] > p[j]; });
    text +=
        fmt::format("{:<{}}  {:>6}  {:>6.3f} ", answers.id(b), width, answers.n(b), answers.uncertainty(b));
    for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
      text +=
          fmt::format(" {} {:.3f}", answers.model_names()[static_cast<std::size_t>(order[i])], p[order[i]]);
    }
    if (order.size() > kShown) text += " ...";
    if (!answers.flag(b).empty()) text += fmt::format("  ! {}", answers.flag(b));
    text += '\n';
  }
  return text;
}

}  // namespace occam

#include "occam/compare/answer_columns.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/core/error.hpp"

namespace occam {
namespace {

using Per = AnswerColumn::Per;

AnswerCell known(double value) {
  return std::isnan(value) ? AnswerCell() : AnswerCell(value);
}

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

bool always(const AnswerShape&) {
  return true;
}

// Why an answer should not be trusted: what the network says, or that its scope cannot be judged.
std::string flag_of(const AnswerRow& r) {
  if (!r.answers.flag(r.b).empty() || r.extras.scope.empty()) return r.answers.flag(r.b);
  const bool outside = r.extras.verdicts[at(r.b)].verdict == VerdictKind::outside_training;
  return outside && r.extras.scope[at(r.b)].lonely_design ? kLonelyDesign : "";
}

std::vector<AnswerColumn> make_columns() {
  using Row = AnswerRow;
  using Shape = AnswerShape;
  return {
      {"dataset", Per::data_set, "Data set", "what tells the data set from others (--by)", "", always,
       [](const Row& r, std::int64_t) { return r.answers.id(r.b); }},
      {"k", Per::data_set, "k", "observations that had come in by then", "`--sequential`",
       [](const Shape& s) { return s.sequential; },
       [](const Row& r, std::int64_t) { return r.answers.n(r.b); }},
      {"n", Per::data_set, "n", "observations in it", "", always,
       [](const Row& r, std::int64_t) { return r.answers.n(r.b); }},
      {"best", Per::data_set, "Best", "the most probable model", "", always,
       [](const Row& r, std::int64_t) { return r.answers.model_names()[at(r.best)]; }},
      {"p_", Per::model, "p", "posterior probability of the model", "", always,
       [](const Row& r, std::int64_t j) { return r.p[at(j)]; }},
      {"alpha_", Per::model, "alpha", "concentration of the Dirichlet distribution over the models",
       "empty without an evidential head", always,
       [](const Row& r, std::int64_t j) {
         return r.answers.has_concentrations() ? AnswerCell(std::exp(r.answers.log_alpha(r.b, j)))
                                               : AnswerCell();
       }},
      {"log_bf_", Per::model, "ln BF",
       "natural log Bayes factor of the model against `best`, whatever the model prior", "", always,
       [](const Row& r, std::int64_t j) { return r.answers.log_bayes_factor(r.b, j, r.best); }},
      {"u", Per::data_set, "u", "J / sum(alpha); see [what it means](meaning.md)",
       "empty without an evidential head", always,
       [](const Row& r, std::int64_t) { return known(r.answers.uncertainty(r.b)); }},
      {"flag", Per::data_set, "Flag", "why the answer should not be trusted; empty where nothing is wrong",
       "", always, [](const Row& r, std::int64_t) { return flag_of(r); }},
      {"note", Per::data_set, "Note",
       "what to know about the data: values outside the range trained on, or not whole where all were, rows "
       "left out",
       "", always,
       [](const Row& r, std::int64_t) {
         return r.extras.notes.empty() ? std::string() : r.extras.notes[at(r.b)];
       }},
      {"spread_", Per::model, "+-", "standard deviation of p over the networks, or over samples of the head",
       "ensembles, and heads that answer by samples", [](const Shape& s) { return s.spread; },
       [](const Row& r, std::int64_t j) { return known(r.answers.spread(r.b, j)); }},
      {"agreement", Per::data_set, "Agreement", "share of the networks with the same best model", "ensembles",
       [](const Shape& s) { return s.ensemble; },
       [](const Row& r, std::int64_t) { return r.answers.agreement(r.b); }},
      {"scope_p", Per::data_set, "Scope p", "how often simulated data look at least this foreign",
       "networks with a scope reference", [](const Shape& s) { return s.scope; },
       [](const Row& r, std::int64_t) { return r.extras.scope[at(r.b)].p; }},
      {"scope_p_", Per::model, "Scope p", "the same among simulations of one model",
       "networks with a scope reference and at most 16 models",
       [](const Shape& s) { return s.scope_by_model; },
       [](const Row& r, std::int64_t j) { return r.extras.scope[at(r.b)].by_model[at(j)]; }},
      {"verdict", Per::data_set, "Verdict", "decided, ambiguous, out-of-scope or outside-training", "",
       always,
       [](const Row& r, std::int64_t) { return std::string(word(r.extras.verdicts[at(r.b)].verdict)); }},
      {"explanation", Per::data_set, "In words", "the verdict in a sentence", "", always,
       [](const Row& r, std::int64_t) { return r.extras.verdicts[at(r.b)].explanation; }},
      {"estimate_", Per::parameter, "Estimate", "rough point estimate of the parameter in the best model",
       "`--parameters`", [](const Shape& s) { return s.estimates; },
       [](const Row& r, std::int64_t i) {
         const auto P = static_cast<std::int64_t>(r.extras.estimates.names.size());
         return known(r.extras.estimates.values[at(r.b * P + i)]);
       }},
      {"summary_", Per::summary, "Summary", "the network's own summary of the data set", "`--summary`",
       [](const Shape& s) { return s.summary_width > 0; },
       [](const Row& r, std::int64_t i) {
         const auto width = static_cast<std::int64_t>(r.extras.summary.size()) / r.answers.size();
         return static_cast<double>(r.extras.summary[at(r.b * width + i)]);
       }}};
}

}  // namespace

AnswerShape::AnswerShape(const NetworkFile& file, bool with_estimates, std::int64_t width)
    : models(file.model_names),
      parameters(file.parameter_names),
      ensemble(file.members.size() > 1),
      spread(ensemble || file.config.head_kind().samples),
      concentrations(file.config.head_kind().concentrations),
      scope(!file.scope.is_null()),
      scope_by_model(scope && file.scope.value("by_model", nlohmann::json()) == true),
      estimates(with_estimates),
      summary_width(width) {}

AnswerRow::AnswerRow(const ModelPosterior& answers_, const AnswerExtras& extras_, std::int64_t b_)
    : answers(answers_), extras(extras_), b(b_), best(answers_.best(b_)), p(answers_.probabilities(b_)) {}

std::string AnswerColumn::pattern() const {
  switch (per) {
    case Per::model:
      return name + "<model>";
    case Per::parameter:
      return name + "<parameter>";
    case Per::summary:
      return name + "<k>";
    case Per::data_set:
      break;
  }
  return name;
}

std::vector<std::string> AnswerColumn::names(const AnswerShape& shape) const {
  std::vector<std::string> all;
  if (per == Per::data_set) all.push_back(name);
  if (per == Per::model) {
    for (const std::string& model : shape.models) all.push_back(name + model);
  }
  if (per == Per::parameter) {
    for (const std::string& parameter : shape.parameters) all.push_back(name + parameter);
  }
  for (std::int64_t k = 0; per == Per::summary && k < shape.summary_width; ++k) {
    all.push_back(fmt::format("{}{}", name, k + 1));
  }
  return all;
}

const std::vector<AnswerColumn>& answer_columns() {
  static const std::vector<AnswerColumn> columns = make_columns();
  return columns;
}

const AnswerColumn& answer_column(std::string_view pattern) {
  const auto found = std::find_if(answer_columns().begin(), answer_columns().end(),
                                  [&](const AnswerColumn& column) { return column.pattern() == pattern; });
  if (found == answer_columns().end()) {
    throw Error(ErrorKind::internal, "answers have no column '{}'", pattern);
  }
  return *found;
}

AnswerTable::AnswerTable(const AnswerShape& shape) {
  for (const AnswerColumn& column : answer_columns()) {
    if (!column.present(shape)) continue;
    const std::vector<std::string> names = column.names(shape);
    parts_.push_back({&column, static_cast<std::int64_t>(names.size())});
    names_.insert(names_.end(), names.begin(), names.end());
  }
}

std::vector<AnswerCell> AnswerTable::row(const ModelPosterior& answers, const AnswerExtras& extras,
                                         std::int64_t b) const {
  const AnswerRow row(answers, extras, b);
  std::vector<AnswerCell> cells;
  cells.reserve(names_.size());
  for (const Part& part : parts_) {
    for (std::int64_t i = 0; i < part.count; ++i) cells.push_back(part.column->cell(row, i));
  }
  return cells;
}

}  // namespace occam

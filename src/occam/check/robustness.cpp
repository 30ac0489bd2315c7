#include "occam/check/robustness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "occam/check/answer_means.hpp"
#include "occam/check/diagnostic.hpp"
#include "occam/check/predictions.hpp"
#include "occam/check/statistics.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/scope/scope.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

constexpr std::size_t kShownModels = 8;  // with many models: those most often chosen, then "others"

std::vector<Disturbance> chosen_disturbances(const Problem& problem, const RobustnessRequest& request) {
  std::vector<Disturbance> known = disturbances(problem);
  if (request.names.empty()) return known;
  std::vector<std::string> names;
  for (const Disturbance& one : known) names.push_back(one.name);
  std::vector<Disturbance> result;
  for (const std::string& name : request.names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw Error(ErrorKind::usage, "problem '{}' has no disturbance '{}'{}", problem.name(), name,
                  names.empty() ? "" : did_you_mean(name, names));
    }
    result.push_back(known[static_cast<std::size_t>(found - names.begin())]);
  }
  return result;
}

// What the network says at one strength.
struct Step : AnswerMeans {
  double strength = 0;
};

// Names of tables are names of files, in lower case: "robustness_g_k_low".
std::string table_name(const Disturbance& one) {
  std::string name = "robustness_" + one.name;
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::string strength_title(const Disturbance& one) {
  return one.unit.empty() ? one.name : fmt::format("{} [{}]", one.name, one.unit);
}

void add_curves(const Disturbance& one, const std::vector<Step>& steps, Finding& finding) {
  Table table{table_name(one),
              fmt::format("{}: {}", one.name, one.description),
              {"strength", "quantity", "mean", "lower", "upper"},
              {}};
  for (const Step& step : steps) {
    const auto add = [&](const char* quantity, const Mean& mean) {
      const double half = mean.count() > 1 ? 1.96 * mean.se() : 0;
      table.rows.push_back({step.strength, quantity, mean.value(), std::max(0.0, mean.value() - half),
                            std::min(1.0, mean.value() + half)});
    };
    add("largest p", step.largest);
    add("entropy / log J", step.entropy);
    if (step.u.count() > 0) add("u", step.u);
    if (step.caught.count() > 0) add("out of scope", step.caught);
  }
  const bool has_u = steps.front().u.count() > 0;
  using nlohmann::json;
  const json x = vega_field("strength", "quantitative", strength_title(one));
  json y = vega_field("mean", "quantitative", "mean");
  y["scale"] = {{"domain", {0, 1}}};
  json low = y;
  low["field"] = "lower";
  const json color = vega_field("quantity", "nominal", "quantity");
  json silent = color;  // one legend, that of colour and shape, says it all
  silent["legend"] = nullptr;
  finding.figures.push_back(
      {table.name,
       fmt::format("Robustness: {}", one.name),
       fmt::format("{}. Means over data sets with 95 % intervals: the largest probability{} the entropy of p "
                   "as a part of its maximum{}. A network that noticed would become less sure; one that "
                   "stays sure does not notice that no model makes such data.{}",
                   table.title, has_u ? "," : " and", has_u ? ", and u" : "",
                   steps.front().caught.count() > 0
                       ? fmt::format(" The share of data sets that the scope test calls foreign at level {} "
                                     "should rise from there to one.",
                                     kScopeLevel)
                       : ""),
       fmt::format("Mean largest probability{} against the strength of the disturbance {}.",
                   has_u ? ", entropy and u" : " and entropy", one.name),
       table.name,
       {{"layer",
         {{{"mark", {{"type", "area"}, {"opacity", 0.2}}},
           {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", "upper"}}}, {"color", silent}}}},
          {{"mark", {{"type", "line"}, {"point", true}}},
           {"encoding",
            {{"x", x},
             {"y", y},
             {"color", color},
             {"strokeDash", silent},
             {"shape", color},
             {"tooltip", vega_tooltips({{"strength", strength_title(one)},
                                        {"quantity", "quantity"},
                                        {"mean", "mean"},
                                        {"lower", "lower"},
                                        {"upper", "upper"}})}}}}}}}});
  finding.tables.push_back(std::move(table));
}

void add_chosen(const Disturbance& one, const std::vector<Step>& steps, const std::vector<std::string>& names,
                Finding& finding) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool all = static_cast<std::int64_t>(names.size()) <= kManyModels;
  if (!all) {
    const auto total = [&](std::size_t j) {
      double sum = 0;
      for (const Step& step : steps) sum += step.chosen[j];
      return sum;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return total(a) > total(b); });
    order.resize(kShownModels);
  }
  Table table{table_name(one) + "_chosen",
              fmt::format("{}: models chosen", one.name),
              {"strength", "model", "share"},
              {}};
  for (const Step& step : steps) {
    double rest = 1;
    for (const std::size_t j : order) {
      table.rows.push_back({step.strength, names[j], step.chosen[j]});
      rest -= step.chosen[j];
    }
    if (!all) table.rows.push_back({step.strength, "others", std::max(0.0, rest)});
  }
  using nlohmann::json;
  const json model = vega_field("model", "nominal", "model");
  json silent = model;
  silent["legend"] = nullptr;
  json y = vega_field("share", "quantitative", "share of the data sets");
  y["scale"] = {{"domain", {0, 1}}};
  finding.figures.push_back(
      {table.name,
       fmt::format("Models chosen: {}", one.name),
       "Which model is most probable, as the disturbance grows. A model that takes over everything is the "
       "one that data of this kind would be mistaken for.",
       fmt::format("Share of data sets assigned to each model against the strength of the disturbance {}.",
                   one.name),
       table.name,
       {{"mark", {{"type", "line"}, {"point", true}}},
        {"encoding",
         {{"x", vega_field("strength", "quantitative", strength_title(one))},
          {"y", y},
          {"color", model},
          {"shape", model},
          {"strokeDash", silent},
          {"tooltip",
           vega_tooltips({{"strength", strength_title(one)}, {"model", "model"}, {"share", "share"}})}}}}});
  finding.tables.push_back(std::move(table));
}

// The least that could be asked of p: that it does not grow surer of data it has not been trained on.
Judgement judged(const Disturbance& one, const Step& mild, const Step& strong) {
  Judgement judgement;
  const double change = strong.largest.value() - mild.largest.value();
  const bool scope = strong.caught.count() > 0;
  const bool unnoticed = scope ? strong.caught.value() < 0.5 : change > -0.05;
  judgement.severity = unnoticed ? Severity::note : Severity::fine;
  judgement.text = fmt::format(
      "{} = {}{}{}: the largest probability goes from {} to {} on average{}.", one.name, one.to,
      one.unit.empty() ? "" : " ", one.unit, shown_number(mild.largest.value()),
      shown_number(strong.largest.value()),
      strong.u.count() > 0
          ? fmt::format(", u from {} to {}", shown_number(mild.u.value()), shown_number(strong.u.value()))
          : "");
  if (scope) {
    judgement.text += fmt::format(" The scope test notices {:.0f} % of the data sets (level {}).",
                                  100 * strong.caught.value(), kScopeLevel);
  }
  if (unnoticed) {
    judgement.text += scope ? " Most pass unnoticed." : " The network becomes no less sure.";
    judgement.advice =
        "Nothing here shows that no model makes such data. Before you believe an answer, compare your data "
        "with simulations from the model it favours.";
  }
  return judgement;
}

}  // namespace

std::int64_t robustness_data_sets(const Problem& problem, const RobustnessRequest& request) {
  return static_cast<std::int64_t>(chosen_disturbances(problem, request).size()) * request.steps *
         request.data_sets;
}

Finding measure_robustness(const Predictor& predictor, const Problem& problem,
                           const RobustnessRequest& request, ThreadPool& pool,
                           const std::function<void(std::int64_t)>& done) {
  Finding finding{"robustness", "Robustness", {}, {}, {}, {}};
  finding.text =
      "What does the network say as data become ever more unlike what the models make? It must answer with "
      "one of its models, whether or not any of them fits.";
  std::int64_t behind = 0;
  Batch batch;
  for (const Disturbance& one : chosen_disturbances(problem, request)) {
    std::vector<Step> steps;
    for (std::int64_t i = 0; i < request.steps; ++i) {
      const double part =
          request.steps > 1 ? static_cast<double>(i) / static_cast<double>(request.steps - 1) : 1;
      const double strength = i + 1 == request.steps ? one.to : one.from + part * (one.to - one.from);
      DisturbedRange range;
      range.seed = request.seed;
      range.count = request.data_sets;
      range.n = request.n;
      disturb(problem, {one.name, strength}, range, pool, batch);
      steps.push_back({answer_means(predictor, batch), strength});
      done(behind += request.data_sets);
    }
    const auto name = [&](const char* what) { return one.name + what; };
    finding.metrics.push_back(metric(name("_largest_p"), "mean largest p at the strongest " + one.name,
                                     steps.back().largest.value()));
    if (steps.back().u.count() > 0) {
      finding.metrics.push_back(
          metric(name("_u"), "mean u at the strongest " + one.name, steps.back().u.value()));
    }
    add_curves(one, steps, finding);
    if (predictor.scope != nullptr) {
      finding.metrics.push_back(metric(name("_caught"), "share out of scope at the strongest " + one.name,
                                       steps.back().caught.value()));
    }
    add_chosen(one, steps, predictor.comparator.file().model_names, finding);
    finding.judgements.push_back(judged(one, steps.front(), steps.back()));
  }
  return finding;
}

}  // namespace occam

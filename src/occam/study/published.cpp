#include "occam/study/published.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"

namespace occam {
namespace {

// Networks that this scale does not train, or an experiment that it does not make.
bool left_out(const Study& study, const std::vector<Finding>& findings, const std::string& finding,
              const std::string& metric) {
  const bool made =
      std::any_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.name == finding; });
  if (!made) return true;
  const std::string network = metric.substr(0, metric.find('.'));
  return std::none_of(study.networks.begin(), study.networks.end(),
                      [&](const StudyNetwork& one) { return one.name == network; });
}

// "finding/metric"; null where it is left out.
const Metric* look_up(const Study& study, const std::vector<Finding>& findings, const std::string& path) {
  const std::string finding = path.substr(0, path.find('/'));
  const std::string name = path.substr(path.find('/') + 1);
  std::vector<std::string> known;
  for (const Finding& one : findings) {
    if (one.name != finding) continue;
    for (const Metric& metric : one.metrics) {
      if (metric.name == name) return &metric;
      known.push_back(metric.name);
    }
  }
  if (left_out(study, findings, finding, name)) return nullptr;
  throw Error(ErrorKind::bad_config, "{}/expected.json: finding '{}' has no metric '{}'{}", study.name,
              finding, name, did_you_mean(name, known));
}

std::string aim_text(const PublishedFigure& figure) {
  if (!std::isnan(figure.at_least)) return fmt::format("at least {}", figure.at_least);
  if (!std::isnan(figure.at_most)) return fmt::format("at most {}", figure.at_most);
  if (!std::isnan(figure.below_best)) return fmt::format("at most {} below best", figure.below_best);
  if (!std::isnan(figure.above_best)) return fmt::format("at most {} above best", figure.above_best);
  return "";
}

bool reached(const PublishedFigure& figure, double ours, double best) {
  if (!std::isnan(figure.at_least)) return ours >= figure.at_least;
  if (!std::isnan(figure.at_most)) return ours <= figure.at_most;
  if (!std::isnan(figure.below_best)) return ours >= best - figure.below_best;
  return ours <= best + figure.above_best;
}

// "; best possible 0.82; published 0.8", as far as they are known.
std::string also(const PublishedFigure& figure, double best) {
  std::string text;
  if (!std::isnan(best)) text += fmt::format("; best possible {:.4g}", best);
  if (!std::isnan(figure.published)) text += fmt::format("; published {:.4g}", figure.published);
  return text;
}

}  // namespace

Finding published_figures(const Study& study, const std::vector<Finding>& findings) {
  Finding result{"published", "Ours, published, best possible", {}, {}, {}, {}};
  result.text =
      "Every figure that was published and that this run measured. Best possible: of the exact posterior, "
      "on the same data sets or computed beforehand; empty where nobody knows it. Intervals are for the "
      "finite number of validation data sets (95 %).";
  Table table{"published",
              "Figures",
              {"figure", "ours", "published", "best_possible", "aim", "reached", "lower", "upper", "source"},
              {}};
  table.open = true;
  for (const PublishedFigure& figure : study.figures) {
    const Metric* ours = look_up(study, findings, figure.metric);
    if (ours == nullptr) continue;
    double best = figure.best;
    if (!figure.best_metric.empty()) {
      const Metric* found = look_up(study, findings, figure.best_metric);
      if (found != nullptr) best = found->value;
    }
    const std::string aim = aim_text(figure);
    const bool met = !aim.empty() && reached(figure, ours->value, best);
    table.rows.push_back({figure.what, ours->value, figure.published, best, aim,
                          aim.empty() ? "" : (met ? "yes" : "no"), ours->lower, ours->upper, figure.source});
    if (aim.empty()) continue;
    Judgement judgement;
    judgement.severity = met ? Severity::fine : Severity::warning;
    judgement.text = fmt::format("{}: {:.4g} ({}{}).", figure.what, ours->value, aim, also(figure, best));
    if (!met) judgement.advice = "Train longer: `--scale full`, or more iterations in study.toml.";
    result.judgements.push_back(std::move(judgement));
  }
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace occam

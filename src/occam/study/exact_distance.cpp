// How far networks are from the exact posteriors of their problems: one row per network with KL, what
// training took, and, beside the truth, what `check` says without knowing it: how much was missed at least.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/check_network.hpp"
#include "occam/check/diagnostic.hpp"
#include "occam/check/missed/missed.hpp"
#include "occam/check/statistics.hpp"
#include "occam/core/error.hpp"
#include "occam/study/experiment.hpp"

namespace occam {
namespace {

// Columns of the table that are metrics of the diagnostics; one that was not measured stays empty.
struct Quantity {
  const char* column;
  const char* finding;
  const char* metric;
  const char* title;
};
const std::vector<Quantity> kQuantities = {
    {"kl", "exact", "kl", "KL from the exact posterior [nats]"},
    {"se", "exact", "kl_se", "its standard error"},
    {"missed", "missed", "missed_bound", "what the network missed, at least, as `check` finds it [nats]"},
    {"loss", "scores", "log_loss", "log-loss [nats]"},
    {"best_loss", "exact", "best_log_loss", "best possible log-loss [nats]"},
    {"accuracy", "accuracy", "accuracy", "accuracy"},
    {"best_accuracy", "exact", "best_accuracy", "best possible accuracy"}};

double value_of(const std::vector<Finding>& findings, const Quantity& quantity) {
  for (const Finding& finding : findings) {
    if (finding.name != quantity.finding) continue;
    for (const Metric& one : finding.metrics) {
      if (one.name == quantity.metric) return one.value;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

class ExactDistance final : public Experiment {
 public:
  Fields fields() override {
    return {
        field("networks", networks_, "names, such as a,b; all if none"),
        field("datasets", data_sets_, "simulated data sets per network").at_least(10),
        field("missed_datasets", missed_sets_, "data sets for a second learner (0: without)").at_least(0)};
  }

  std::vector<Finding> run(const StudyExperiment& experiment, Laboratory& laboratory) override {
    const std::vector<StudiedNetwork*> networks = laboratory.networks(networks_);
    Finding finding{experiment.name, experiment.title, {}, {}, {}, {}};
    Table table{experiment.name,
                "By network, the farthest first",
                {"network", "n", "models", "steps", "seconds"},
                {}};
    for (const Quantity& quantity : kQuantities) table.columns.emplace_back(quantity.column);
    table.open = true;
    std::int64_t expected = 0;
    for (const StudiedNetwork* network : networks)
      expected += data_sets_ + missed_data_sets(network->problem, missed(laboratory), laboratory.pool());
    laboratory.expect(expected, experiment.name);
    std::vector<double> distances;
    for (StudiedNetwork* network : networks) {
      if (!network->problem.has_exact_posterior()) {
        throw Error(ErrorKind::bad_config, "{}: the exact posterior of '{}' is not known", experiment.where,
                    network->problem.name());
      }
      const std::vector<Finding> found = ask(*network, laboratory);
      table.rows.push_back(row_of(*network));
      for (const Quantity& quantity : kQuantities) {
        const double value = value_of(found, quantity);
        table.rows.back().emplace_back(value);
        finding.metrics.push_back(metric(fmt::format("{}.{}", network->spec.name, quantity.column),
                                         fmt::format("{}, {}", quantity.title, network->spec.label), value));
      }
      distances.push_back(value_of(found, kQuantities.front()));
    }
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
      return std::get<double>(a[5]) > std::get<double>(b[5]);
    });
    finding.metrics.push_back(metric("largest_kl", "the largest KL of all networks [nats]",
                                     *std::max_element(distances.begin(), distances.end())));
    finding.metrics.push_back(
        metric("median_kl", "the median KL of all networks [nats]", quantile(distances, 0.5)));
    finding.tables.push_back(std::move(table));
    return {std::move(finding)};
  }

 private:
  std::vector<Finding> ask(StudiedNetwork& network, Laboratory& laboratory) const {
    PredictionLayout layout = prediction_layout(*network.comparator, network.problem);
    layout.has_scope = false;
    Checker checker(layout, CheckOptions{}, laboratory.seed());
    predict(
        {*network.comparator}, network.problem, {laboratory.seed(), data_sets_, {}}, laboratory.pool(),
        [&](const Predictions& block) { checker.add(block, laboratory.pool()); }, laboratory.counter());
    std::vector<Finding> findings = checker.finish();
    if (missed_data_sets(network.problem, missed(laboratory), laboratory.pool()) > 0) {
      const Missed found = measure_missed(*network.comparator, network.problem, missed(laboratory),
                                          laboratory.pool(), laboratory.counter());
      findings.push_back(missed_finding(found, {}, CheckOptions{}.missed_limit, CheckOptions{}.false_alarm));
    }
    return findings;
  }

  MissedRequest missed(const Laboratory& laboratory) const {
    return {laboratory.seed(), missed_sets_, nullptr, {}};
  }

  static std::vector<Cell> row_of(const StudiedNetwork& network) {
    const NetworkFile& file = network.comparator->file();
    const auto [low, high] = network.problem.sizes();
    return {network.spec.label, low == high ? fmt::format("{}", low) : fmt::format("{}-{}", low, high),
            network.problem.J(), file.record.value("steps", std::int64_t{0}),
            file.record.value("seconds", std::numeric_limits<double>::quiet_NaN())};
  }

  std::string networks_;
  std::int64_t data_sets_ = 5000;
  std::int64_t missed_sets_ = 20000;
};

}  // namespace

void register_exact_distance(Registry<ExperimentKind>& registry) {
  registry.add("exact", {"distance from exact posteriors, a row per network",
                         [] { return std::make_unique<ExactDistance>(); }});
}

}  // namespace occam

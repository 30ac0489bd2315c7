// How far networks are from the exact posteriors of their problems: one row per network with KL, what
// training took, and what `check` measures beside.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/check_network.hpp"
#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"
#include "occam/core/error.hpp"
#include "occam/study/experiment.hpp"

namespace occam {
namespace {

// Columns of the table that are metrics of the diagnostics; one that a program does not have yet stays empty.
struct Quantity {
  const char* column;
  const char* finding;
  const char* metric;
  const char* title;
};
const std::vector<Quantity> kQuantities = {
    {"kl", "exact", "kl", "KL from the exact posterior [nats]"},
    {"se", "exact", "kl_se", "its standard error"},
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
    return {field("networks", networks_, "names, such as a,b; all if none"),
            field("datasets", data_sets_, "simulated data sets per network").at_least(10)};
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
    laboratory.expect(data_sets_ * static_cast<std::int64_t>(networks.size()), experiment.name);
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
    return checker.finish();
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
};

}  // namespace

void register_exact_distance(Registry<ExperimentKind>& registry) {
  registry.add("exact", {"distance from exact posteriors, a row per network",
                         [] { return std::make_unique<ExactDistance>(); }});
}

}  // namespace occam

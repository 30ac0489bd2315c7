// Answers by size: accuracy, log-loss, calibration and u of networks for data sets of several sizes N,
// beside the best possible where the exact posterior is known. At the sizes in `details` also the figures of
// the diagnostics: calibration curves, confusion, mean probabilities (Occam's razor), Bayes factors.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/check_network.hpp"
#include "occam/check/diagnostic.hpp"
#include "occam/simulate/call_text.hpp"
#include "occam/study/experiment.hpp"

namespace occam {
namespace {

// What a row of the table holds; metrics of the diagnostics by their names.
struct Quantity {
  const char* name;
  const char* title;
};
const std::vector<Quantity> kQuantities = {
    {"accuracy", "accuracy"},
    {"log_loss", "log-loss [nats]"},
    {"ece", "calibration error, bins weighted by count"},
    {"calibration_error", "calibration error, bins weighted alike"},
    {"calibration_error_expected", "the same if calibration were perfect"},
    {"overconfidence", "overconfidence"},
    {"u", "u"},
    {"kl", "KL from the exact posterior [nats]"},
    {"best_accuracy", "best possible accuracy"},
    {"best_log_loss", "best possible log-loss [nats]"}};

const Metric* find_metric(const std::vector<Finding>& findings, const std::string& name) {
  for (const Finding& finding : findings) {
    for (const Metric& one : finding.metrics) {
      if (one.name == name) return &one;
    }
  }
  return nullptr;
}

class SizeExperiment final : public Experiment {
 public:
  Fields fields() override {
    return {field("networks", networks_, "names, such as a,b; all if none"),
            field("n", n_, "sizes, one by one").at_least(1),
            field("own", own_, "also data sets of the problem's own sizes"),
            field("details", details_, "sizes at which all diagnostics are shown").at_least(1),
            field("datasets", data_sets_, "simulated data sets per size").at_least(10),
            field("bins", bins_, "of calibration curves").at_least(2)};
  }

  std::vector<Finding> run(const StudyExperiment& experiment, Laboratory& laboratory) override {
    const std::vector<StudiedNetwork*> networks = laboratory.networks(networks_);
    std::vector<double> sizes(n_.begin(), n_.end());
    if (own_ || n_.empty()) sizes.push_back(0);
    Finding finding{experiment.name, experiment.title, {}, {}, {}, {}};
    std::vector<Finding> details;
    begin_table(experiment, finding);
    laboratory.expect(data_sets_ * static_cast<std::int64_t>(networks.size() * sizes.size()),
                      experiment.name);
    for (StudiedNetwork* network : networks) {
      for (const double n : sizes) {
        std::vector<Finding> found = ask(*network, n, laboratory);
        add(*network, n, found, finding);
        const auto wanted = static_cast<std::int64_t>(n);
        if (n > 0 && std::find(details_.begin(), details_.end(), wanted) != details_.end())
          add_details(experiment, *network, wanted, found, finding, details);
      }
    }
    add_figures(experiment, finding, sizes.size());
    details.insert(details.begin(), std::move(finding));
    return details;
  }

 private:
  std::vector<Finding> ask(StudiedNetwork& network, double n, Laboratory& laboratory) const {
    CheckOptions options;
    options.bins = bins_;
    PredictRequest request{laboratory.seed(), data_sets_, {}};
    if (n > 0) request.n = static_cast<std::int64_t>(n);
    // Without the scope reference: how often it raises an alarm is not asked here, and it takes time.
    PredictionLayout layout = prediction_layout(*network.comparator, network.problem);
    layout.has_scope = false;
    Checker checker(layout, options, laboratory.seed());
    predict(
        {*network.comparator}, network.problem, request, laboratory.pool(),
        [&](const Predictions& block) { checker.add(block, laboratory.pool()); }, laboratory.counter());
    return checker.finish();
  }

  static std::string size_text(double n) { return n > 0 ? number_text(n) : "all"; }

  static void begin_table(const StudyExperiment& experiment, Finding& finding) {
    Table& table = finding.tables.emplace_back();
    table.name = experiment.name;
    table.title = "By network and size";
    table.columns = {"network", "n", "data_sets", "quantity", "value", "lower", "upper"};
  }

  void add(const StudiedNetwork& network, double n, const std::vector<Finding>& found,
           Finding& finding) const {
    double worst = 0;
    for (const std::string& model : network.comparator->file().model_names) {
      const Metric* one = find_metric(found, "calibration_error_" + model);
      if (one != nullptr) worst = std::max(worst, one->value);
    }
    const auto put = [&](const std::string& name, const std::string& title, const Metric& one) {
      finding.metrics.push_back(metric(fmt::format("{}.{}.{}", network.spec.name, name, size_text(n)),
                                       fmt::format("{}, {}, N: {}", title, network.spec.label, size_text(n)),
                                       one.value, one.lower, one.upper));
      finding.tables.front().rows.push_back({network.spec.label, n, data_sets_, title, one.value,
                                             std::isnan(one.lower) ? one.value : one.lower,
                                             std::isnan(one.upper) ? one.value : one.upper});
    };
    for (const Quantity& quantity : kQuantities) {
      const Metric* one = find_metric(found, quantity.name);
      if (one != nullptr) put(quantity.name, quantity.title, *one);
    }
    if (worst > 0)
      put("calibration_error_worst", "calibration error of the worst model, bins weighted alike",
          metric("", "", worst));
  }

  // The findings of the diagnostics as findings of their own: titles say where, tables get names of their
  // own, and numbers by model become metrics of the experiment.
  static void add_details(const StudyExperiment& experiment, const StudiedNetwork& network, std::int64_t n,
                          std::vector<Finding>& found, Finding& finding, std::vector<Finding>& details) {
    const std::string prefix = fmt::format("{}_{}_{}_", experiment.name, network.spec.name, n);
    for (Finding& one : found) {
      for (const Metric& value : one.metrics) {
        const std::string name = fmt::format("{}.{}.{}", network.spec.name, value.name, n);
        const bool known = std::any_of(finding.metrics.begin(), finding.metrics.end(),
                                       [&](const Metric& other) { return other.name == name; });
        if (!known)
          finding.metrics.push_back(metric(name, value.meaning, value.value, value.lower, value.upper));
      }
      const bool shown = one.name == "calibration" || one.name == "confusion" ||
                         one.name == "mean_probabilities" || one.name == "exact";
      if (!shown) continue;
      one.name = prefix + one.name;
      one.title = fmt::format("{}: {}, N = {}", one.title, network.spec.label, n);
      one.metrics.clear();  // they are above
      one.judgements.clear();
      for (Table& table : one.tables) table.name = prefix + table.name;
      for (Figure& figure : one.figures) {
        figure.name = prefix + figure.name;
        figure.table = prefix + figure.table;
      }
      std::erase_if(one.figures, [](const Figure& f) { return f.name.ends_with("_by_n"); });
      std::erase_if(one.tables, [](const Table& t) { return t.name.ends_with("_by_n"); });
      details.push_back(std::move(one));
    }
  }

  // One curve per network, and the best possible accuracy beside them.
  static void add_figures(const StudyExperiment& experiment, Finding& finding, std::size_t sizes) {
    if (sizes < 3) {
      finding.tables.front().open = true;
      return;
    }
    for (const char* quantity : {"accuracy", "u"}) {
      Table table{fmt::format("{}_{}", experiment.name, quantity),
                  fmt::format("{} by size", quantity),
                  {"network", "n", "value", "lower", "upper"},
                  {}};
      for (const std::vector<Cell>& row : finding.tables.front().rows) {
        const auto& of = std::get<std::string>(row[3]);
        const bool best = std::string_view(quantity) == "accuracy" && of == "best possible accuracy";
        if ((of != quantity && !best) || std::get<double>(row[1]) == 0) continue;
        const auto& network = std::get<std::string>(row[0]);
        table.rows.push_back(
            {best ? fmt::format("best possible for {}", network) : network, row[1], row[4], row[5], row[6]});
      }
      if (table.rows.empty()) continue;
      finding.figures.push_back(curve(table, quantity));
      finding.tables.push_back(std::move(table));
    }
  }

  static Figure curve(const Table& table, const std::string& quantity) {
    using nlohmann::json;
    const json x = vega_field("n", "quantitative", "N");
    json y = vega_field("value", "quantitative", quantity);
    y["scale"] = {{"domain", {0, 1}}};
    json low = y;
    low["field"] = "lower";
    const json color = vega_field("network", "nominal", "network");
    json silent = color;  // one legend, that of colour and shape, says it all
    silent["legend"] = nullptr;
    return {
        table.name,
        table.title,
        "One point per network and size, with 95 % intervals where they were computed.",
        fmt::format("{} against the size N of a data set, one curve per network.", quantity),
        table.name,
        {{"layer",
          {{{"mark", {{"type", "area"}, {"opacity", 0.15}}},
            {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", "upper"}}}, {"color", silent}}}},
           {{"mark", {{"type", "line"}, {"point", true}}},
            {"encoding",
             {{"x", x},
              {"y", y},
              {"color", color},
              {"shape", color},
              {"strokeDash", silent},
              {"tooltip", vega_tooltips({{"network", "network"}, {"n", "N"}, {"value", quantity}})}}}}}}}};
  }

  std::string networks_;
  std::vector<std::int64_t> n_, details_;
  bool own_ = false;
  std::int64_t data_sets_ = 2000;
  std::int64_t bins_ = 15;
};

}  // namespace

void register_sizes(Registry<ExperimentKind>& registry) {
  registry.add("sizes",
               {"accuracy, calibration and u by size", [] { return std::make_unique<SizeExperiment>(); }});
}

}  // namespace occam

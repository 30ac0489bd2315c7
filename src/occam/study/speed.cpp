// How long answers take: K simulated data sets of size N through each network, wall time of the best of three
// runs (the first one also warms up). Simulation does not count.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/simulate/simulator.hpp"
#include "occam/study/experiment.hpp"

namespace occam {
namespace {

constexpr int kRuns = 3;

class Speed final : public Experiment {
 public:
  Fields fields() override {
    return {field("networks", networks_, "names, such as a,b; all if none"),
            field("n", n_, "size of the data sets; 0: the problem's own").at_least(0),
            field("datasets", data_sets_, "how many").at_least(1)};
  }

  std::vector<Finding> run(const StudyExperiment& experiment, Laboratory& laboratory) override {
    const std::vector<StudiedNetwork*> networks = laboratory.networks(networks_);
    Finding finding{experiment.name, experiment.title, {}, {}, {}, {}};
    Table table{experiment.name,
                "Time to answer",
                {"network", "data_sets", "n", "threads", "seconds", "data_sets_per_s"},
                {}};
    table.open = true;
    laboratory.expect(data_sets_ * static_cast<std::int64_t>(networks.size()), experiment.name);
    for (StudiedNetwork* network : networks) {
      SimulatorOptions options{.batch = data_sets_};
      if (n_ > 0) options.n = n_;
      Simulator simulator(network->problem, laboratory.seed(), Purpose::test, options);
      const Batch batch = simulator.simulate(0, laboratory.pool());
      const double seconds = time(*network->comparator, batch);
      finding.metrics.push_back(
          metric(fmt::format("{}.seconds", network->spec.name),
                 fmt::format("for {} data sets, {} [s]", data_sets_, network->spec.label), seconds));
      table.rows.push_back({network->spec.label, data_sets_, n_,
                            static_cast<std::int64_t>(laboratory.pool().threads()), seconds,
                            static_cast<double>(data_sets_) / seconds});
      laboratory.done(data_sets_);
    }
    finding.tables.push_back(std::move(table));
    return {std::move(finding)};
  }

 private:
  static double time(Comparator& comparator, const Batch& batch) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRuns; ++i) {
      const auto start = std::chrono::steady_clock::now();
      comparator.outputs(batch.view());
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  }

  std::string networks_;
  std::int64_t n_ = 0;
  std::int64_t data_sets_ = 5000;
};

}  // namespace

void register_speed(Registry<ExperimentKind>& registry) {
  registry.add("speed", {"how long answers take", [] { return std::make_unique<Speed>(); }});
}

}  // namespace occam

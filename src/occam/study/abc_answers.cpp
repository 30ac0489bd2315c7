// The network beside ABC, data set by data set: series of one model with parameters held fixed, the
// probability that the exact posterior, the network and ABC-SMC give to the true model, and how long each
// answer took.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "occam/abc/abc.hpp"
#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"
#include "occam/simulate/simulator.hpp"
#include "occam/study/experiment.hpp"

namespace occam {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What one method said of all data sets.
struct Answers {
  Mean p;      // of the true model
  Mean right;  // whether that was the largest

  double add(const std::vector<double>& of, std::size_t truth) {
    p.add(of[truth]);
    right.add(static_cast<std::size_t>(std::max_element(of.begin(), of.end()) - of.begin()) == truth ? 1 : 0);
    return of[truth];
  }
};

class AbcAnswers final : public Experiment {
 public:
  Fields fields() override {
    return {field("network", network_, "its name"), field("model", model_, "whose data"),
            field("fixed", fixed_, "its parameters that are held fixed, such as theta=2"),
            field("datasets", data_sets_, "how many").at_least(1),
            field("text", text_, "what this is about")};
  }

  std::vector<Finding> run(const StudyExperiment& experiment, Laboratory& laboratory) override {
    StudiedNetwork& network = *laboratory.networks(network_).front();
    const std::int64_t model = network.problem.model_index(model_);
    Simulator simulator(with_fixed(network.problem, model, fixed_), laboratory.seed(), Purpose::test,
                        {.batch = data_sets_, .model = model});
    const Batch batch = simulator.simulate(0, laboratory.pool());
    Finding finding{experiment.name, experiment.title, {}, {}, {}, {}};
    finding.text = text_;
    laboratory.expect(data_sets_, experiment.name);
    ask_all(network, static_cast<std::size_t>(model), batch, laboratory, finding);
    finding.tables.front().name = experiment.name;
    return {std::move(finding)};
  }

 private:
  void ask_all(StudiedNetwork& network, std::size_t truth, const Batch& batch, Laboratory& laboratory,
               Finding& finding) const {
    ModelPosterior answers = network.comparator->empty_posterior();
    const Clock::time_point start = Clock::now();
    network.comparator->compare(std::vector<std::string>(static_cast<std::size_t>(batch.size())),
                                batch.view(), answers);
    const double network_seconds = seconds_since(start);
    Table table{"",
                fmt::format("Probability of the true model, {}", model_),
                {"data_set", "exact", "network", "abc", "abc_populations", "abc_simulations", "abc_seconds"},
                {}};
    table.open = true;
    Answers exact, amortized, abc;
    Mean seconds, simulations;
    SilentProgress silent;
    for (std::int64_t b = 0; b < batch.size(); ++b) {
      const auto known = network.problem.exact_log_posterior(batch[b]);
      double p_exact = PublishedFigure::kNone;
      if (known) {
        std::vector<double> p = *known;
        for (double& value : p) value = std::exp(value);
        p_exact = exact.add(p, truth);
      }
      const Clock::time_point begin = Clock::now();
      const AbcResult result =
          run_abc(network.problem, batch[b], size_to_simulate(network.problem, batch[b].n),
                  abc_options(network.problem), laboratory.seed() + static_cast<std::uint64_t>(b),
                  laboratory.pool(), silent);
      seconds.add(seconds_since(begin));
      simulations.add(static_cast<double>(result.simulations));
      table.rows.push_back({b + 1, p_exact, amortized.add(answers.probabilities(b), truth),
                            abc.add(result.populations.back().p, truth),
                            static_cast<std::int64_t>(result.populations.size()), result.simulations,
                            seconds_since(begin)});
      laboratory.done(1);
    }
    finding.tables.push_back(std::move(table));
    const auto put = [&](const std::string& quantity, const std::string& meaning, double value) {
      finding.metrics.push_back(metric(fmt::format("{}.{}", network.spec.name, quantity), meaning, value));
    };
    const auto put_answers = [&](const std::string& prefix, const std::string& who, const Answers& of) {
      if (of.p.count() == 0) return;
      put(prefix + "p_true", fmt::format("mean probability of the true model, {}", who), of.p.value());
      put(prefix + "right", fmt::format("share of data sets for which it is the largest, {}", who),
          of.right.value());
    };
    put_answers("exact_", "exact", exact);
    put_answers("", "network", amortized);
    put_answers("abc_", "ABC-SMC", abc);
    put("seconds", "wall time of the network for all data sets [s]", network_seconds);
    put("abc_seconds", "mean wall time of ABC-SMC for one data set [s]", seconds.value());
    put("abc_simulations", "mean number of simulations of ABC-SMC for one data set", simulations.value());
  }

  std::string network_, model_, fixed_, text_;
  std::int64_t data_sets_ = 20;
};

}  // namespace

void register_abc_answers(Registry<ExperimentKind>& registry) {
  registry.add("abc", {"the network beside ABC-SMC", [] { return std::make_unique<AbcAnswers>(); }});
}

}  // namespace occam

// What networks say of data of one model along a line through its parameters: some are held fixed, one takes
// equally spaced values, also outside its prior, and the rest are drawn as ever.
#include <cmath>

#include <fmt/format.h>

#include "occam/simulate/simulator.hpp"
#include "occam/study/answer_curves.hpp"
#include "occam/study/experiment.hpp"

namespace occam {
namespace {

class ParameterCurve final : public Experiment {
 public:
  Fields fields() override {
    return {field("networks", networks_, "names, such as a,b; all if none"),
            field("model", model_, "whose data"),
            field("fixed", fixed_, "parameters held fixed, such as a=1,b=2"),
            field("parameter", parameter_, "the one that varies"),
            field("from", from_, "its first value"),
            field("to", to_, "its last value"),
            field("values", values_, "how many, equally spaced").at_least(2),
            field("n", n_, "size of the data sets").at_least(1),
            field("datasets", data_sets_, "per value").at_least(2),
            field("text", text_, "what this is about")};
  }

  std::vector<Finding> run(const StudyExperiment& experiment, Laboratory& laboratory) override {
    const std::vector<StudiedNetwork*> networks = laboratory.networks(networks_);
    AnswerCurves curves(experiment.name, experiment.title, parameter_);
    laboratory.expect(data_sets_ * static_cast<std::int64_t>(networks.size()) * values_, experiment.name);
    for (const StudiedNetwork* network : networks) {
      const std::int64_t model = network->problem.model_index(model_);
      for (std::int64_t i = 0; i < values_; ++i) {
        const double value = value_at(i);
        const std::string held =
            fmt::format("{}{}{}={}", fixed_, fixed_.empty() ? "" : ",", parameter_, value);
        Simulator simulator(with_fixed(network->problem, model, held), laboratory.seed(), Purpose::test,
                            {.batch = data_sets_, .model = model, .n = n_});
        const Batch batch = simulator.simulate(0, laboratory.pool());
        curves.add(network->spec.name, network->spec.label, value, answer_means(network->predictor(), batch),
                   network->problem.model_names());
        laboratory.done(data_sets_);
      }
    }
    return {curves.finding(text_)};
  }

 private:
  // Rounded, so that names of metrics are short.
  double value_at(std::int64_t i) const {
    const double part = static_cast<double>(i) / static_cast<double>(values_ - 1);
    return std::round((from_ + part * (to_ - from_)) * 1e4) / 1e4;
  }

  std::string networks_, model_, fixed_, parameter_, text_;
  double from_ = 0;
  double to_ = 1;
  std::int64_t values_ = 25;
  std::int64_t n_ = 100;
  std::int64_t data_sets_ = 500;
};

}  // namespace

void register_parameter_curve(Registry<ExperimentKind>& registry) {
  registry.add("parameter", {"what networks say along a line through a model's parameters",
                             [] { return std::make_unique<ParameterCurve>(); }});
}

}  // namespace occam

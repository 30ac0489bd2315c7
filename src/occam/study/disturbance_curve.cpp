// What networks say of data that are ever more disturbed: response times shifted by K seconds, a voltage with
// its sign flipped, and whatever other disturbance the problem's family has a name for.
#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/simulate/disturbance.hpp"
#include "occam/study/answer_curves.hpp"
#include "occam/study/experiment.hpp"

namespace occam {
namespace {

class DisturbanceCurve final : public Experiment {
 public:
  Fields fields() override {
    return {field("networks", networks_, "names, such as a,b; all if none"),
            field("disturbance", disturbance_, "its name; `occam models` lists them"),
            field("strengths", strengths_, "how strong, one by one"),
            field("n", n_, "size of the data sets").at_least(1),
            field("datasets", data_sets_, "per strength").at_least(2),
            field("text", text_, "what this is about")};
  }

  std::vector<Finding> run(const StudyExperiment& experiment, Laboratory& laboratory) override {
    if (strengths_.empty()) throw Error(ErrorKind::bad_config, "{}: strengths are missing", experiment.where);
    const std::vector<StudiedNetwork*> networks = laboratory.networks(networks_);
    AnswerCurves curves(experiment.name, experiment.title, title(networks.front()->problem));
    laboratory.expect(data_sets_ * static_cast<std::int64_t>(networks.size() * strengths_.size()),
                      experiment.name);
    Batch batch;
    for (const StudiedNetwork* network : networks) {
      for (const double strength : strengths_) {
        DisturbedRange range;
        range.seed = laboratory.seed();
        range.count = data_sets_;
        range.n = n_;
        disturb(network->problem, {disturbance_, strength}, range, laboratory.pool(), batch);
        curves.add(network->spec.name, network->spec.label, strength,
                   answer_means(network->predictor(), batch), network->problem.model_names());
        laboratory.done(data_sets_);
      }
    }
    return {curves.finding(text_)};
  }

 private:
  std::string title(const Problem& problem) const {
    for (const Disturbance& one : disturbances(problem)) {
      if (one.name == disturbance_ && !one.unit.empty()) return fmt::format("{} [{}]", one.name, one.unit);
    }
    return disturbance_;
  }

  std::string networks_, disturbance_, text_;
  std::vector<double> strengths_;
  std::int64_t n_ = 100;
  std::int64_t data_sets_ = 200;
};

}  // namespace

void register_disturbance_curve(Registry<ExperimentKind>& registry) {
  registry.add("disturbance",
               {"what networks say of disturbed data", [] { return std::make_unique<DisturbanceCurve>(); }});
}

}  // namespace occam

#include "occam/study/experiment.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/data/batch.hpp"
#include "occam/simulate/call_text.hpp"
#include "occam/simulate/disturbance.hpp"

namespace occam {

std::vector<StudiedNetwork*> Laboratory::networks(const std::string& names) const {
  std::vector<StudiedNetwork*> result;
  if (names.empty()) {
    for (StudiedNetwork& one : networks_) result.push_back(&one);
    return result;
  }
  std::vector<std::string> known;
  for (const StudiedNetwork& one : networks_) known.push_back(one.spec.name);
  std::istringstream words(names);
  for (std::string name; std::getline(words, name, ',');) {
    StudiedNetwork* found = nullptr;
    for (StudiedNetwork& one : networks_) {
      if (one.spec.name == name) found = &one;
    }
    if (found == nullptr) {
      throw Error(ErrorKind::bad_config, "the study has no network '{}'{}", name, did_you_mean(name, known));
    }
    result.push_back(found);
  }
  return result;
}

void Laboratory::expect(std::int64_t data_sets, std::string note) {
  done_ = 0;
  total_ = data_sets;
  note_ = std::move(note);
  done(0);
}

void Laboratory::done(std::int64_t data_sets) {
  done_ += data_sets;
  progress_.update(done_, total_, note_);
  if (progress_.stop_requested()) {
    throw Error(ErrorKind::interrupted,
                "stopped; networks that are trained are kept, and the same command goes on from there");
  }
}

std::function<void(std::int64_t)> Laboratory::counter() {
  return [this, before = std::int64_t{0}](std::int64_t count) mutable {
    done(count - before);
    before = count;
  };
}

const Registry<ExperimentKind>& experiment_kinds() {
  static const Registry<ExperimentKind> registry = [] {
    Registry<ExperimentKind> all("kind of experiment");
    register_experiments(all);
    return all;
  }();
  return registry;
}

std::unique_ptr<Experiment> make_experiment(const StudyExperiment& experiment) {
  const ExperimentKind* kind = experiment_kinds().find(experiment.kind);
  if (kind == nullptr) {
    throw Error(ErrorKind::bad_config, "{}: unknown kind of experiment '{}'{}", experiment.where,
                experiment.kind, did_you_mean(experiment.kind, experiment_kinds().names()));
  }
  std::unique_ptr<Experiment> result = kind->make();
  set_fields(result->fields(), experiment.options, experiment.where);
  return result;
}

std::string metric_name(const std::string& network, const std::string& quantity, double at) {
  return fmt::format("{}.{}.{}", network, quantity, number_text(at));
}

Problem with_fixed(const Problem& problem, std::int64_t which, const std::string& fixed) {
  std::vector<std::pair<std::string, Prior>> priors;
  const Model& changed = problem.models()[static_cast<std::size_t>(which)];
  std::vector<std::string> known;
  for (const Parameter& one : changed.parameters()) known.push_back(one.name);
  std::istringstream words(fixed);
  for (std::string word; std::getline(words, word, ',');) {
    const DisturbanceRequest held = DisturbanceRequest::parse(word);  // NAME=NUMBER
    if (std::find(known.begin(), known.end(), held.name) == known.end()) {
      throw Error(ErrorKind::usage, "model '{}' has no parameter '{}'{}", changed.name(), held.name,
                  did_you_mean(held.name, known));
    }
    priors.emplace_back(held.name, Prior::fixed(held.strength));
  }
  ProblemSpec spec = problem.spec();
  spec.models.clear();
  for (std::int64_t j = 0; j < problem.J(); ++j) {
    const Model& model = problem.models()[static_cast<std::size_t>(j)];
    spec.models.push_back(j == which ? with_priors(model, priors) : model);
  }
  return Problem(std::move(spec));
}

}  // namespace occam

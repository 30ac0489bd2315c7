// Experiment: one kind of question that a study asks its networks. A file x.cpp in the list of CMakeLists.txt
// defines register_x(Registry<ExperimentKind>&); [[experiment]] tables of study.toml name the kind and set
// its options. Metrics are named NETWORK.QUANTITY.AT ("lambda_0.accuracy.300"), so that expected.json can
// refer to them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "occam/check/finding.hpp"
#include "occam/check/predictions.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/core/fields.hpp"
#include "occam/core/progress.hpp"
#include "occam/core/registry.hpp"
#include "occam/scope/scope.hpp"
#include "occam/study/study.hpp"

namespace occam {

// A network of the study, ready to be asked.
struct StudiedNetwork {
  StudyNetwork spec;
  Problem problem;
  std::unique_ptr<Comparator> comparator;
  std::optional<ScopeReference> scope;

  Predictor predictor() const { return {*comparator, scope ? &*scope : nullptr}; }
};

// What an experiment works with.
class Laboratory {
 public:
  Laboratory(std::vector<StudiedNetwork>& networks, std::uint64_t seed, ThreadPool& pool,
             ProgressSink& progress)
      : networks_(networks), seed_(seed), pool_(pool), progress_(progress) {}

  // The networks named in "a,b"; all of them for an empty text. Error(bad_config) for an unknown one.
  std::vector<StudiedNetwork*> networks(const std::string& names) const;
  std::uint64_t seed() const { return seed_; }
  ThreadPool& pool() const { return pool_; }
  ProgressSink& progress() const { return progress_; }

  // For the start of an experiment: how many data sets it will ask about. Then, after each part of them, how
  // many it was. Error(interrupted) when the user wants to stop.
  void expect(std::int64_t data_sets, std::string note);
  void done(std::int64_t data_sets);
  // For functions that count by themselves from zero.
  std::function<void(std::int64_t)> counter();

 private:
  std::vector<StudiedNetwork>& networks_;
  std::uint64_t seed_;
  ThreadPool& pool_;
  ProgressSink& progress_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  std::string note_;
};

class Experiment {
 public:
  virtual ~Experiment() = default;
  virtual Fields fields() = 0;
  // `name` and `title` are those of the study; tables have names that begin with `name`.
  virtual std::vector<Finding> run(const StudyExperiment& experiment, Laboratory& laboratory) = 0;
};

struct ExperimentKind {
  std::string help;  // one line
  std::function<std::unique_ptr<Experiment>()> make;
};

const Registry<ExperimentKind>& experiment_kinds();
void register_experiments(Registry<ExperimentKind>& registry);  // generated

// With its options set; Error(bad_config) on an unknown kind or option.
std::unique_ptr<Experiment> make_experiment(const StudyExperiment& experiment);

// "lambda_0.accuracy.300"; numbers as they are written: 300, 0.5.
std::string metric_name(const std::string& network, const std::string& quantity, double at);

// The problem with parameters of one model held fixed: "a=1,b=2". Error(usage) on a parameter it does not
// have or a value that is not legal.
Problem with_fixed(const Problem& problem, std::int64_t model, const std::string& fixed);

}  // namespace occam

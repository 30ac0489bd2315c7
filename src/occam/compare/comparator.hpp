// Comparator: a trained network put to use. Data sets in, a ModelPosterior out, many at a time, by an engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "occam/compare/model_posterior.hpp"
#include "occam/engine/engine.hpp"
#include "occam/networks/network_file.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {

// Rough point estimates from the network's side output: (sets, P); NaN where the given model lacks the
// parameter.
struct ParameterEstimates {
  std::vector<std::string> names;
  std::vector<double> values;
};

// What the networks of a file make of some data sets.
struct NetworkOutputs {
  // (sets, J), or log p where the head has no concentrations; of an ensemble: of the mixture
  // (model_posterior.hpp).
  std::vector<double> log_alpha;
  std::vector<double> members;  // (sets, K, J) log p of each member; empty for a single network
  std::vector<double> spread;   // (sets, J) of p over the samples of a single network's head, or empty
  std::vector<double> theta;    // (sets, P) mean over members
  std::vector<float> summary;   // (sets, S) of the first member
};

class Comparator {
 public:
  Comparator(NetworkFile file, ThreadPool& pool, const std::string& device = kDefaultEngine);
  // Error(usage) where the network has no head for parameters.
  void require_estimates() const;

  const NetworkFile& file() const { return file_; }
  ThreadPool& pool() const { return pool_; }
  ModelPosterior empty_posterior() const {
    return {file_.model_names, file_.model_prior, file_.config.head_kind().concentrations};
  }
  std::int64_t summary_width() const { return network_->summary_width(); }  // S
  std::int64_t shortest() const { return network_->shortest(); }            // rows that it can take at least

  // Error(bad_data) as Network::check.
  NetworkOutputs outputs(Ragged<const float> data);

  // Appends one answer per data set. Those of a size or a design that the network was not trained on are
  // flagged.
  // Error(bad_data) as Network::check. With `estimates`, the parameters of each data set's most probable
  // model are appended too; Error(usage) if the network has no such head.
  void compare(const std::vector<std::string>& ids, Ragged<const float> data, ModelPosterior& answers,
               ParameterEstimates* estimates = nullptr);
  // The same from outputs at hand.
  void add_answers(const std::vector<std::string>& ids, Ragged<const float> data,
                   const NetworkOutputs& outputs, ModelPosterior& answers,
                   ParameterEstimates* estimates) const;

  // What the engine has to say of its work.
  std::string remark() const { return engine_->remark(); }

 private:
  void add_member(std::size_t k, std::int64_t sets, const NetworkAnswers& answers, NetworkOutputs& out) const;
  std::string flag(Matrix<const float> rows) const;

  NetworkFile file_;
  ThreadPool& pool_;
  std::unique_ptr<Network<float>> network_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace occam

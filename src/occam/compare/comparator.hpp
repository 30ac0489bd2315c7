// Comparator: a trained network put to use. Data sets in, a ModelPosterior out, many at a time on all
// threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "occam/compare/model_posterior.hpp"
#include "occam/networks/batch_gradient.hpp"
#include "occam/networks/network_file.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {

// Rough point estimates from the auxiliary head: (sets, P); NaN where the given model lacks the parameter.
struct ParameterEstimates {
  std::vector<std::string> names;
  std::vector<double> values;
};

class Comparator {
 public:
  Comparator(NetworkFile file, ThreadPool& pool);

  const NetworkFile& file() const { return file_; }
  ModelPosterior empty_posterior() const { return {file_.model_names, file_.model_prior}; }

  // Appends one answer per data set. Data sets larger or smaller than any trained on are flagged.
  // Error(bad_data) as Network::check. With `estimates`, the parameters of each data set's most probable
  // model are appended too; Error(usage) if the network has no such head.
  void compare(const std::vector<std::string>& ids, Ragged<const float> data, ModelPosterior& answers,
               ParameterEstimates* estimates = nullptr);

 private:
  std::string flag(std::int64_t n) const;

  NetworkFile file_;
  std::unique_ptr<Network<float>> network_;
  std::unique_ptr<BatchGradient<float>> runner_;
};

}  // namespace occam

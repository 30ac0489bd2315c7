// The exact posterior of the model frequencies r of a group, r ~ Dirichlet(alpha0) beforehand:
//   p(r | data) proportional to p(r) prod over n of sum over k of r_k w_nk
// Two models: in closed form (two_models.hpp). More: by Markov chains, whose error is reported. A sweep draws
// the model of every data set given r, then r given these (Gibbs), which is slow only where evidences are
// weak; there it is slice sampling that moves: pairs of frequencies whose sum stays.
#pragma once

#include <cstdint>
#include <vector>

#include "occam/group/evidences.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {

struct FrequencyOptions {
  double alpha0 = 1;  // of the Dirichlet prior: 1 is uniform, as in Stephan et al. (2009)
  double level = 0.95;
  std::uint64_t seed = 1;
  std::int64_t sweeps = 1024;    // kept of each of 32 chains, fewer where N J is large
  std::int64_t particles = 512;  // of each of 32 runs for log p(data), fewer where N J is large
};

struct ModelFrequencies {
  std::vector<double> mean, low, high;  // (J) and the equal-tailed interval
  std::vector<double> exceedance;       // (J) probability that the model is the most frequent one
  double error = 0;                     // the largest standard error of all these; 0 in closed form
};

// At least one data set. Depends on evidences and options alone, not on the number of threads.
ModelFrequencies frequency_posterior(const Evidences& evidences, const FrequencyOptions& options,
                                     ThreadPool& pool);

struct LogMarginal {
  double value = 0;
  double error = 0;  // standard error; 0 in closed form
};

// log p(data), frequencies integrated out, on the scale of the rows. More than two models: by sequential
// imputation (Kong, Liu & Wong 1994) with resampling: data sets come one by one, the most decisive first, and
// each particle carries how many came from each model.
LogMarginal log_marginal(const Evidences& evidences, const FrequencyOptions& options, ThreadPool& pool);

}  // namespace occam

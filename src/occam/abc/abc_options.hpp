// Options of ABC. Their defaults for a problem stand in its [abc] table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/core/fields.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

struct AbcOptions {
  std::string method = "smc";
  std::string summary = "sketch";  // with its options: summary.hpp
  std::string summary_network;
  std::string distance = "euclidean";
  bool scale = true;

  std::int64_t populations = 10;
  std::int64_t population_size = 1000;
  bool adaptive = false;
  double mean_cv = 0.05;
  std::int64_t largest_population = 10000;
  std::vector<std::int64_t> population_sizes;

  double quantile = 0.5;
  double min_epsilon = 0;
  std::vector<double> epsilons;

  double min_acceptance = 0.001;
  std::int64_t max_simulations = 0;  // 0: no limit
  double stay = 0.7;
  double kernel_width = 1;
  bool stop_at_one_model = false;
};
Fields fields(AbcOptions& options);

// Throws Error(usage) on options that do not go together, and on a summary that there is not.
void check(const AbcOptions& options);

// The defaults of a problem. Throws Error(bad_config) that names the table on what is wrong in it.
AbcOptions abc_options(const Problem& problem);

}  // namespace occam

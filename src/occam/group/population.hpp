// Simulated populations whose model frequencies are known, to see how often intervals cover them. Model k
// makes data x ~ Normal(d e_k, 1) in J dimensions, so the log evidences are exact: l_k = d x_k - d^2 / 2. For
// tests and benchmarks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/core/rng.hpp"
#include "occam/group/evidences.hpp"

namespace occam {

struct Population {
  std::vector<double> frequency;  // (J) true
  Evidences evidences;
};

// `frequency` empty: drawn from the uniform Dirichlet distribution.
inline Population simulate_population(std::int64_t N, std::int64_t J, double d, std::vector<double> frequency,
                                      Rng rng) {
  if (frequency.empty()) {
    double sum = 0;
    for (std::int64_t k = 0; k < J; ++k) sum += frequency.emplace_back(rng.exponential());
    for (double& share : frequency) share /= sum;
  }
  Evidences evidences(J);
  std::vector<double> row(frequency.size());
  for (std::int64_t n = 0; n < N; ++n) {
    const auto model = static_cast<std::size_t>(rng.categorical(frequency));
    for (std::size_t k = 0; k < row.size(); ++k) {
      row[k] = d * (rng.normal() + (k == model ? d : 0)) - d * d / 2;
    }
    evidences.add(std::to_string(n), row);
  }
  return {std::move(frequency), std::move(evidences)};
}

}  // namespace occam

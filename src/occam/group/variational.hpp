// Model frequencies of a group as the literature reports them: the variational Dirichlet posterior of Stephan
// et al. (2009, NeuroImage 46:1004) and the Bayesian omnibus risk of Rigoux et al. (2014, NeuroImage 84:971).
//   z_nk proportional to exp(l_nk + digamma(alpha_k)),  alpha_k = alpha0 + sum over n of z_nk
// Iterated to convergence, where published programs stop after 32 rounds or a small change of the free
// energy. The posterior is narrower than the exact one where evidences are weak; docs/groups.md says by how
// much.
#pragma once

#include <vector>

#include "occam/group/evidences.hpp"

namespace occam {

struct VariationalFrequencies {
  std::vector<double> alpha;                 // (J)
  std::vector<double> frequency;             // (J) alpha / sum(alpha)
  std::vector<double> exceedance;            // (J)
  std::vector<double> protected_exceedance;  // (J) (1 - bor) exceedance + bor / J
  double free_energy = 0;                    // of the model in which frequencies may differ
  double bor = 0;                            // probability that all models are equally frequent
};

// At least one data set; alpha0 > 0.
VariationalFrequencies variational_frequencies(const Evidences& evidences, double alpha0);

// The concentrations alone, (J).
std::vector<double> variational_alpha(const Evidences& evidences, double alpha0);

// (1 - p_equal) x + p_equal / J
std::vector<double> protected_exceedance(const std::vector<double>& exceedance, double p_equal);

// p(H0) = 1 / (1 + exp(log_other - log_null)), at even odds beforehand.
double probability_of_null(double log_null, double log_other);

}  // namespace occam

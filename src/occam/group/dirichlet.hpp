// What is said of a Dirichlet distribution over model frequencies: intervals, and which is the largest.
#pragma once

#include <span>
#include <vector>

namespace occam {

struct FrequencyInterval {
  double low = 0, high = 1;
};

// The equal-tailed interval that holds share `level` of component k, whose marginal is
// Beta(alpha_k, sum - alpha_k).
FrequencyInterval dirichlet_interval(double alpha_k, double alpha_sum, double level);

// P(r_k > all other r_j) for r ~ Dirichlet(alpha), all alpha > 0; they sum to one. By one quadrature over
// independent gamma variables (Soch & Allefeld 2016, arXiv:1611.01439), absolute error below 1e-9:
//   phi_k = integral of gamma_pdf(x; alpha_k) prod over j != k of gamma_cdf(x; alpha_j) dx
std::vector<double> exceedance_probabilities(std::span<const double> alpha);

}  // namespace occam

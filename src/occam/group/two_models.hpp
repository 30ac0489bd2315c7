// The exact posterior of the frequency r of the first of two models, without sampling. The likelihood
//   prod over n of (r w_n1 + (1 - r) w_n2)
// is a polynomial; written in Bernstein form it is a mixture over how many data sets m come from the first
// model, so that the posterior is a mixture of Beta(alpha0 + m, alpha0 + N - m).
#pragma once

#include <vector>

#include "occam/group/dirichlet.hpp"
#include "occam/group/evidences.hpp"

namespace occam {

class TwoModelPosterior {
 public:
  // Takes time proportional to N^2.
  TwoModelPosterior(const Evidences& evidences, double alpha0);

  double mean() const;
  double cdf(double r) const;
  double quantile(double share) const;
  double log_marginal() const { return log_marginal_; }  // log p(data), on the scale of the rows

 private:
  double alpha0_, N_;
  std::vector<double> weights_;  // (N + 1) probability that m data sets come from the first model
  double log_marginal_ = 0;
};

}  // namespace occam

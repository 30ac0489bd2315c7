#include "occam/group/two_models.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/tools/roots.hpp>

namespace occam {
namespace {

constexpr double kNegligible = 1e-17;

double log_beta_function(double a, double b) {
  return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
}

}  // namespace

TwoModelPosterior::TwoModelPosterior(const Evidences& evidences, double alpha0)
    : alpha0_(alpha0), N_(static_cast<double>(evidences.N())), weights_{1.0} {
  // Bernstein coefficients: the mean, over all choices of m data sets, of the product of their w_n1 and the
  // others' w_n2. Each step is a convex combination, so nothing cancels.
  double log_scale = 0;
  for (std::int64_t n = 0; n < evidences.N(); ++n) {
    const auto w = evidences.row(n);
    const auto count = static_cast<double>(n + 1);
    weights_.push_back(0);
    for (std::size_t m = weights_.size(); m-- > 0;) {
      const double share = static_cast<double>(m) / count;
      weights_[m] = (1 - share) * w[1] * weights_[m] + (m == 0 ? 0 : share * w[0] * weights_[m - 1]);
    }
    const double top = *std::max_element(weights_.begin(), weights_.end());
    for (double& weight : weights_) weight /= top;
    log_scale += std::log(top);
  }
  // Times the prior of m: beta-binomial, flat for alpha0 = 1.
  double sum = 0;
  for (std::size_t m = 0; m < weights_.size(); ++m) {
    const auto first = static_cast<double>(m);
    const double log_choices = -std::log(N_ + 1) - log_beta_function(first + 1, N_ - first + 1);
    weights_[m] *= std::exp(log_choices + log_beta_function(alpha0 + first, alpha0 + N_ - first) -
                            log_beta_function(alpha0, alpha0));
    sum += weights_[m];
  }
  for (double& weight : weights_) weight /= sum;
  log_marginal_ = log_scale + std::log(sum);
}

double TwoModelPosterior::mean() const {
  double sum = 0;
  for (std::size_t m = 0; m < weights_.size(); ++m) sum += weights_[m] * (alpha0_ + static_cast<double>(m));
  return sum / (2 * alpha0_ + N_);
}

double TwoModelPosterior::cdf(double r) const {
  double sum = 0;
  for (std::size_t m = 0; m < weights_.size(); ++m) {
    if (weights_[m] < kNegligible) continue;
    const auto first = static_cast<double>(m);
    sum += weights_[m] * boost::math::ibeta(alpha0_ + first, alpha0_ + N_ - first, r);
  }
  return sum;
}

double TwoModelPosterior::quantile(double share) const {
  std::uintmax_t rounds = 200;
  const auto bracket =
      boost::math::tools::toms748_solve([&](double r) { return cdf(r) - share; }, 0.0, 1.0, -share, 1 - share,
                                        boost::math::tools::eps_tolerance<double>(40), rounds);
  return (bracket.first + bracket.second) / 2;
}

}  // namespace occam

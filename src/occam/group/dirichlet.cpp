#include "occam/group/dirichlet.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace occam {

FrequencyInterval dirichlet_interval(double alpha_k, double alpha_sum, double level) {
  const double tail = (1 - level) / 2;
  const double rest = alpha_sum - alpha_k;
  return {boost::math::ibeta_inv(alpha_k, rest, tail), boost::math::ibetac_inv(alpha_k, rest, tail)};
}

std::vector<double> exceedance_probabilities(std::span<const double> alpha) {
  // With x = exp(y) the integrands are analytic and fall off at least exponentially on both sides, so the
  // trapezoidal rule converges faster than any power of its step. All k share the nodes: one cdf for each.
  const std::size_t J = alpha.size();
  const double largest = *std::max_element(alpha.begin(), alpha.end());
  const double step = 0.2 / std::sqrt(std::max(1.0, largest));  // a fifth of the narrowest width in y
  std::vector<double> phi(J, 0.0), log_cdf(J), log_norm(J);
  for (std::size_t k = 0; k < J; ++k) log_norm[k] = std::lgamma(alpha[k]);
  // Downwards from where all densities are negligible until they are so again.
  double y = std::log(largest + 12 * std::sqrt(largest) + 60);
  for (double total = 0, here = 1; total == 0 || here > 1e-17 * total; y -= step) {
    const double x = std::exp(y);
    double log_all = 0;
    for (std::size_t k = 0; k < J; ++k) {
      log_cdf[k] = std::log(boost::math::gamma_p(alpha[k], x));
      log_all += log_cdf[k];
    }
    here = 0;
    for (std::size_t k = 0; std::isfinite(log_all) && k < J; ++k) {
      const double value = std::exp(alpha[k] * y - x - log_norm[k] + log_all - log_cdf[k]);
      phi[k] += value;
      here += value;
    }
    total += here;
    if (!std::isfinite(log_all)) break;  // below all that matters: the largest of them is surely above x
  }
  double sum = 0;
  for (const double value : phi) sum += value;
  for (double& value : phi) value /= sum;  // `sum * step` is one but for rounding
  return phi;
}

}  // namespace occam

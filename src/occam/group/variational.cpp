#include "occam/group/variational.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/special_functions/digamma.hpp>

#include "occam/group/dirichlet.hpp"

namespace occam {
namespace {

constexpr int kMostRounds = 10000;
constexpr double kTolerance = 1e-9;  // in alpha

// exp(digamma(alpha_k) - the largest): only ratios matter.
std::vector<double> expected_weights(const std::vector<double>& alpha) {
  std::vector<double> result;
  const double top = boost::math::digamma(*std::max_element(alpha.begin(), alpha.end()));
  for (const double a : alpha) result.push_back(std::exp(boost::math::digamma(a) - top));
  return result;
}

// The shares z_nk of one data set, from its weights w_nk: (J) into `z`. Where the product underflows for all
// models, which takes a model with next to no weight and decisive evidence for it, logarithms decide.
void attribute(std::span<const double> w, std::span<const double> l, const std::vector<double>& expected,
               std::vector<double>& z) {
  double sum = 0;
  for (std::size_t k = 0; k < z.size(); ++k) sum += z[k] = w[k] * expected[k];
  if (sum < 1e-290) {
    double top = -INFINITY;
    for (std::size_t k = 0; k < z.size(); ++k) top = std::max(top, z[k] = l[k] + std::log(expected[k]));
    sum = 0;
    for (double& value : z) sum += value = std::exp(value - top);
  }
  for (double& value : z) value /= sum;
}

// x y, where 0 times infinity is 0.
double times(double x, double y) {
  return x == 0 ? 0 : x * y;
}

}  // namespace

double probability_of_null(double log_null, double log_other) {
  return 1 / (1 + std::exp(log_other - log_null));
}

std::vector<double> protected_exceedance(const std::vector<double>& exceedance, double p_equal) {
  std::vector<double> result;
  for (const double x : exceedance) {
    result.push_back((1 - p_equal) * x + p_equal / static_cast<double>(exceedance.size()));
  }
  return result;
}

std::vector<double> variational_alpha(const Evidences& evidences, double alpha0) {
  const auto J = static_cast<std::size_t>(evidences.J());
  std::vector<double> alpha(J, alpha0), next(J), z(J);
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<double> expected = expected_weights(alpha);
    next.assign(J, alpha0);
    for (std::int64_t n = 0; n < evidences.N(); ++n) {
      attribute(evidences.row(n), evidences.log_row(n), expected, z);
      for (std::size_t k = 0; k < J; ++k) next[k] += z[k];
    }
    double change = 0;
    for (std::size_t k = 0; k < J; ++k) change = std::max(change, std::abs(next[k] - alpha[k]));
    std::swap(alpha, next);
    if (change < kTolerance) break;
  }
  return alpha;
}

namespace {

// Rigoux et al. (2014), A20, at the fixed point.
double free_energy(const Evidences& evidences, double alpha0, const std::vector<double>& alpha) {
  const std::size_t J = alpha.size();
  const std::vector<double> expected = expected_weights(alpha);
  const double total = std::accumulate(alpha.begin(), alpha.end(), 0.0);
  std::vector<double> log_r, z(J);  // expected log r
  for (const double a : alpha) log_r.push_back(boost::math::digamma(a) - boost::math::digamma(total));
  double sum = 0;
  for (std::int64_t n = 0; n < evidences.N(); ++n) {
    const auto l = evidences.log_row(n);
    attribute(evidences.row(n), l, expected, z);
    for (std::size_t k = 0; k < J; ++k) sum += times(z[k], l[k] + log_r[k] - std::log(z[k]));
  }
  const auto models = static_cast<double>(J);
  sum += std::lgamma(models * alpha0) - models * std::lgamma(alpha0) - std::lgamma(total);
  for (std::size_t k = 0; k < J; ++k) sum += std::lgamma(alpha[k]) + (alpha0 - alpha[k]) * log_r[k];
  return sum;
}

}  // namespace

VariationalFrequencies variational_frequencies(const Evidences& evidences, double alpha0) {
  VariationalFrequencies result;
  result.alpha = variational_alpha(evidences, alpha0);
  result.free_energy = free_energy(evidences, alpha0, result.alpha);
  result.bor = probability_of_null(log_evidence_if_equal(evidences), result.free_energy);
  const double total = std::accumulate(result.alpha.begin(), result.alpha.end(), 0.0);
  for (const double a : result.alpha) result.frequency.push_back(a / total);
  result.exceedance = exceedance_probabilities(result.alpha);
  result.protected_exceedance = protected_exceedance(result.exceedance, result.bor);
  return result;
}

}  // namespace occam

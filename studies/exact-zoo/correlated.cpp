// Covariances of four normal columns of mean 0: diagonal, all variances and correlations alike, or any. Exact: inverse
// gamma and inverse Wishart priors are conjugate; equal ones are independent after a rotation.
#include <occam/simulator.h>

#include "exact.h"

constexpr std::size_t kColumns = 4;
constexpr double kFreedom = 8, kScale = 3;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  // Bartlett's decomposition: A A' / scale is the inverse of the covariance.
  std::vector<double> a(kColumns * kColumns, 0.0);
  for (std::size_t i = 0; i < kColumns; ++i) {
    a[i * kColumns + i] = std::sqrt(rng.gamma((kFreedom - static_cast<double>(i)) / 2, 2));
    for (std::size_t j = 0; j < i; ++j) a[i * kColumns + j] = rng.normal();
  }
  const char* names[] = {"v1", "v2", "v3", "v4"};
  for (long i = 0; i < out.n(); ++i) {
    std::vector<double> x(kColumns);
    for (double& one : x) one = rng.normal();
    if (p.is("independent")) {
      for (std::size_t k = 0; k < kColumns; ++k) x[k] *= std::sqrt(p[names[k]]);
    } else if (p.is("equal")) {
      const double mean = (x[0] + x[1] + x[2] + x[3]) / 4;
      for (double& one : x) one = std::sqrt(p["v_sum"]) * mean + std::sqrt(p["v_rest"]) * (one - mean);
    } else {
      solve_upper(a, x);
      for (double& one : x) one *= std::sqrt(kScale);
    }
    for (std::size_t k = 0; k < kColumns; ++k) out(i, static_cast<long>(k)) = x[k];
  }
  return true;
}

double log_multivariate_gamma(double x) {
  double sum = 3 * std::log(kPi);
  for (int k = 0; k < 4; ++k) sum += std::lgamma(x - k / 2.0);
  return sum;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  std::vector<double> squares(kColumns * kColumns, 0.0);
  double of_sum = 0, all = 0;
  for (long i = 0; i < data.n(); ++i) {
    double sum = 0;
    for (long k = 0; k < 4; ++k) {
      sum += data(i, k);
      for (long m = 0; m < 4; ++m) squares[static_cast<std::size_t>(4 * k + m)] += double(data(i, k)) * data(i, m);
    }
    of_sum += sum * sum / 4;
  }
  for (std::size_t k = 0; k < 4; ++k) all += squares[5 * k];
  if (p.is("independent")) {
    double evidence = 0;
    for (std::size_t k = 0; k < 4; ++k) evidence += log_variance_evidence(n, squares[5 * k], 3, 2);
    return evidence;
  }
  if (p.is("equal")) return log_variance_evidence(n, of_sum, 2, 2) + log_variance_evidence(3 * n, all - of_sum, 3, 1.5);
  for (std::size_t k = 0; k < 4; ++k) squares[5 * k] += kScale;
  return kFreedom / 2 * 4 * std::log(kScale) - (kFreedom + n) / 2 * cholesky(squares, kColumns) +
         log_multivariate_gamma((kFreedom + n) / 2) - log_multivariate_gamma(kFreedom / 2) - 2 * n * std::log(kPi);
}

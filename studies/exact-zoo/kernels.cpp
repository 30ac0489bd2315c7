// Gaussian processes of unit variance with noise of variance 0.1. Exact: a sum over the lengths.
#include <occam/simulator.h>

#include "exact.h"

std::vector<double> covariance(const occam::Parameters& p, double length, std::size_t n) {
  std::vector<double> of_lag(n);
  for (std::size_t lag = 0; lag < n; ++lag) {
    const double d = static_cast<double>(lag);
    const double s = std::sin(kPi * d / (2 + length));
    of_lag[lag] = p.is("smooth") ? std::exp(-d * d / (2 * length * length))
                  : p.is("rough") ? std::exp(-d / length)
                                  : std::exp(-2 * s * s);
  }
  of_lag[0] += 0.1;
  std::vector<double> all(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) all[i * n + j] = of_lag[i - j];
  }
  return all;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const std::size_t n = static_cast<std::size_t>(out.n());
  std::vector<double> l = covariance(p, p["length"], n);
  cholesky(l, n);
  std::vector<double> z(n);
  for (double& one : z) one = rng.normal();
  for (std::size_t i = 0; i < n; ++i) {
    double y = 0;
    for (std::size_t j = 0; j <= i; ++j) y += l[i * n + j] * z[j];
    out(static_cast<long>(i), 0) = y;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const std::size_t n = static_cast<std::size_t>(data.n());
  LogSum sum;
  for (int length = 2; length <= 7; ++length) {
    std::vector<double> l = covariance(p, length, n), y(n);
    const double log_det = cholesky(l, n);
    for (std::size_t i = 0; i < n; ++i) y[i] = data(static_cast<long>(i), 0);
    solve_lower(l, y);
    double squares = 0;
    for (const double one : y) squares += one * one;
    sum.add(-0.5 * (log_det + squares + static_cast<double>(n) * std::log(2 * kPi)) - std::log(6.0));
  }
  return sum.value();
}

// Soil samples strewn over a field of 100 m by 100 m. Exact: regression; for patches a Gaussian process with
// exponential covariance, conjugate given size and share, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

// Lower triangular root of the correlations of all samples, and the log of their determinant.
double correlate(const std::vector<double>& x, const std::vector<double>& y, double size, double share,
                 std::vector<double>& root) {
  const std::size_t n = x.size();
  root.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      root[i * n + j] = share * std::exp(-std::hypot(x[i] - x[j], y[i] - y[j]) / size);
    root[i * n + i] = 1;
  }
  return cholesky(root, n);
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto n = static_cast<std::size_t>(out.n());
  std::vector<double> x(n), y(n), value(n), root;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(rng.uniform(0, 100));
    y[i] = static_cast<float>(rng.uniform(0, 100));
    value[i] = rng.normal();
  }
  if (p.is("patches")) {
    correlate(x, y, p["size"], p["share"], root);
    for (std::size_t i = n; i-- > 0;) {
      double sum = 0;
      for (std::size_t j = 0; j <= i; ++j) sum += root[i * n + j] * value[j];
      value[i] = sum;
    }
  }
  const double sd = std::sqrt(p["variance"]);
  for (std::size_t i = 0; i < n; ++i) {
    const double trend =
        p.is("slope") ? p["to_east"] * (x[i] / 100 - 0.5) + p["to_north"] * (y[i] / 100 - 0.5) : 0;
    const auto row = static_cast<long>(i);
    out(row, "east") = static_cast<float>(x[i]);
    out(row, "north") = static_cast<float>(y[i]);
    out(row, "phosphorus") = static_cast<float>(30 + sd * (p["level"] + trend + value[i]));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto n = static_cast<std::size_t>(data.n());
  std::vector<double> x(n), y(n), value(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<long>(i);
    x[i] = data(row, 0);
    y[i] = data(row, 1);
    value[i] = data(row, 2) - 30.0;
  }
  if (!p.is("patches")) {
    MixedSums sums(3);
    for (std::size_t i = 0; i < n; ++i)
      sums.add({{0, 1.0}, {1, x[i] / 100 - 0.5}, {2, y[i] / 100 - 0.5}}, value[i]);
    const double slope = p.is("slope") ? 1 : 0;
    return sums.evidence({2, slope, slope}, 4, 60);
  }
  // Whitened, the level is a regression on one predictor.
  std::vector<double> root;
  const auto with = [&](double size, double share) {
    const double log_det = correlate(x, y, size, share, root);
    std::vector<double> one(n, 1.0), z = value;
    solve_lower(root, one);
    solve_lower(root, z);
    MixedSums sums(1);
    for (std::size_t i = 0; i < n; ++i) sums.add({{0, one[i]}}, z[i]);
    return sums.evidence({2}, 4, 60) - 0.5 * log_det;
  };
  return log_integral(0.5, 5.5, 4 * FINE, [&](double log_size) {
    return log_normal(log_size, 3, 0.5) + log_integral(0, 1, 3 * FINE, [&](double share) {
             return 2 * std::log(share) + std::log1p(-share) - log_beta(3, 2) +
                    with(std::exp(log_size), share);
           });
  });
}

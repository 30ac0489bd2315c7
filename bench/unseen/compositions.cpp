// Rows that add up to one. Exact: sums of logarithms are enough for the Dirichlet, quadrature over its total;
// the logistic normal is conjugate.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double means[2][3] = {{1.0 / 3, 1.0 / 3, 1.0 / 3}, {0.5, 0.3, 0.2}};
  for (long i = 0; i < out.n(); ++i) {
    double x[3], largest = -1e300, sum = 0;
    for (int k = 0; k < 3; ++k) {
      x[k] = p.is("logistic") ? std::sqrt(p["variance"]) * rng.normal()
                              : std::log(rng.gamma(p["total"] * means[p.is("sandy")][k], 1));
      largest = std::max(largest, x[k]);
    }
    for (double& each : x) sum += each = std::exp(each - largest);
    for (int k = 0; k < 3; ++k) {
      out(i, k) = x[k] / sum;
      if (!(x[k] / sum > 1e-12)) return false;  // hardly ever
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = static_cast<double>(data.n());
  double logs[3] = {}, squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    double x[3], mean = 0;
    for (int k = 0; k < 3; ++k) {
      x[k] = std::log(data(i, k));
      logs[k] += x[k];
      mean += x[k] / 3;
    }
    for (const double each : x) squares += (each - mean) * (each - mean);
  }
  // Of two log ratios, which are normal with a variance of two and a covariance of one: a determinant of
  // three.
  if (p.is("logistic")) {
    return log_variance_evidence(2 * n, squares, 3, 1) - 0.5 * n * std::log(3.0) - logs[0] - logs[1] -
           logs[2];
  }
  const double sandy[] = {0.5, 0.3, 0.2};
  return log_integral_around<1>({2}, [&](std::array<double, 1> x) {
    const double total = std::exp(x[0]);
    double sum = log_normal(x[0], 2, 0.7) + n * std::lgamma(total);
    for (int k = 0; k < 3; ++k) {
      const double a = total * (p.is("sandy") ? sandy[k] : 1.0 / 3);
      sum += (a - 1) * logs[k] - n * std::lgamma(a);
    }
    return sum;
  });
}

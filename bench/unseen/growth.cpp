// Five values of each child around a common line, with three covariances. Exact: conjugate regression from
// sums of products, quadrature over one or two parameters of the covariance.
#include <occam/simulator.h>

#include "more.h"

constexpr int kAges = 5;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const double level = p.has("share") ? std::sqrt(p["share"]) * rng.normal() : 0;
    const double slope = p.has("spread") ? p["spread"] * rng.normal() : 0;
    double state = rng.normal();
    for (int age = 0; age < kAges; ++age) {
      if (age > 0) {
        const double memory = p.has("memory") ? p["memory"] : 0;
        state = memory * state + std::sqrt(1 - memory * memory) * rng.normal();
      }
      const double own = level + slope * (age - 2) + (p.has("share") ? std::sqrt(1 - p["share"]) : 1) * state;
      out(i, age) = 50 + sd * (p["level"] + p["slope"] * (age - 2) + own);
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto n = static_cast<double>(data.n());
  double sums[kAges] = {}, products[kAges][kAges] = {};
  for (long i = 0; i < data.n(); ++i) {
    for (int a = 0; a < kAges; ++a) {
      sums[a] += data(i, a) - 50.0;
      for (int b = 0; b < kAges; ++b) products[a][b] += (data(i, a) - 50.0) * (data(i, b) - 50.0);
    }
  }
  // Of a covariance in units of the variance at 10 years, a function of two ages.
  const auto given = [&](auto covariance) {
    std::vector<double> c(kAges * kAges);
    for (int a = 0; a < kAges; ++a) {
      for (int b = 0; b < kAges; ++b) c[a * kAges + b] = covariance(a, b);
    }
    const double log_det = cholesky(c, kAges);
    // Coefficients of the line in units of their priors: precision, and what the data say.
    std::vector<double> precision = {1, 0, 0, 1}, line = {0, 0};
    double squares = 0;
    for (int a = 0; a < kAges; ++a) {
      std::vector<double> row(kAges, 0.0);  // of the inverse
      row[a] = 1;
      solve_lower(c, row);
      solve_upper(c, row);
      const double x[2] = {2, 0.7 * (a - 2)};
      for (int b = 0; b < kAges; ++b) {
        const double z[2] = {2, 0.7 * (b - 2)};
        squares += row[b] * products[a][b];
        for (int i = 0; i < 2; ++i) {
          line[i] += x[i] * row[b] * sums[b];
          for (int j = 0; j < 2; ++j) precision[i * 2 + j] += n * x[i] * row[b] * z[j];
        }
      }
    }
    const double log_shrinkage = cholesky(precision, 2);
    solve_lower(precision, line);
    squares -= line[0] * line[0] + line[1] * line[1];
    return -0.5 * n * log_det - 0.5 * log_shrinkage + log_variance_evidence(kAges * n, squares, 4, 300);
  };
  if (p.is("drifting")) {
    return log_integral_around<1>({0.3}, [&](std::array<double, 1> at) {
      const double memory = logistic(at[0]);
      return log_beta_logit(at[0], 4, 3) +
             given([&](int a, int b) { return std::pow(memory, std::abs(a - b)); });
    });
  }
  const auto levels = [&](double logit, double spread) {
    const double share = logistic(logit);
    return log_beta_logit(logit, 3, 3) + given([&](int a, int b) {
             return share + spread * spread * (a - 2) * (b - 2) + (a == b ? 1 - share : 0);
           });
  };
  if (p.is("levels"))
    return log_integral_around<1>({0.0}, [&](std::array<double, 1> at) { return levels(at[0], 0); });
  return log_integral_around<2>({0.0, -1.6}, [&](std::array<double, 2> at) {
    return log_normal(at[1], -1.6, 0.5) + levels(at[0], std::exp(at[1]));
  });
}

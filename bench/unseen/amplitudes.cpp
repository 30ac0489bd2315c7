// Many normal or Student t values of mean 0. Exact: quadrature over scale and degrees of freedom.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double x = p["scale"] * rng.normal();
    if (p.has("freedom")) x /= std::sqrt(rng.gamma(p["freedom"] / 2, 2 / p["freedom"]));
    out(i, 0) = x;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  std::vector<double> squares(n);
  double all = 0;
  for (long i = 0; i < n; ++i) all += squares[i] = double(data(i, 0)) * data(i, 0);
  const double first = 0.5 * std::log(all / n);
  if (p.is("normal")) {
    return log_integral_around<1>({first}, [&](std::array<double, 1> x) {
      return log_normal(x[0], 2.5, 0.4) - n * (x[0] + 0.5 * std::log(2 * kPi)) -
             0.5 * all * std::exp(-2 * x[0]);
    });
  }
  const auto likelihood = [&](double log_scale, double freedom) {
    const double factor = std::exp(-2 * log_scale) / freedom;
    double sum = 0;
    for (long from = 0; from < n; from += 256) {
      double product[8] = {1, 1, 1, 1, 1, 1, 1, 1};
      const long to = std::min(n, from + 256);
      long i = from;
      for (; i + 8 <= to; i += 8) {
        for (int k = 0; k < 8; ++k) product[k] *= 1 + factor * squares[i + k];
      }
      for (; i < to; ++i) product[0] *= 1 + factor * squares[i];
      for (const double one : product) sum += std::log(one);
    }
    return -0.5 * (freedom + 1) * sum + n * (std::lgamma(0.5 * (freedom + 1)) - std::lgamma(0.5 * freedom) -
                                             0.5 * std::log(freedom * kPi) - log_scale);
  };
  // The best scale for 10, 17 and 30 degrees of freedom by fixed-point steps (EM), between them a parabola in
  // 1 / freedom.
  double at[3], inverse[3] = {1 / 10.0, 1 / 17.0, 1 / 30.0};
  for (int k = 0; k < 3; ++k) {
    const double freedom = 1 / inverse[k];
    double variance = all / n * (1 - 2 / freedom);
    for (int round = 0; round < 4; ++round) {
      double weighted = 0;
      for (long i = 0; i < n; ++i) weighted += squares[i] * (freedom + 1) / (freedom + squares[i] / variance);
      variance = weighted / n;
    }
    at[k] = 0.5 * std::log(variance);
  }
  constexpr double step = 0.9 / FINE;
  return log_integral(10, 30, 2, [&](double freedom) {
    const double x = 1 / freedom;
    double middle = 0;
    for (int k = 0; k < 3; ++k) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      middle += at[k] * (x - inverse[a]) * (x - inverse[b]) /
                ((inverse[k] - inverse[a]) * (inverse[k] - inverse[b]));
    }
    const double sd = std::sqrt((freedom + 3) / (2 * freedom * n));
    LogSum sum;
    for (int k = -6 * FINE; k <= 6 * FINE; ++k) {
      const double log_scale = middle + k * step * sd;
      sum.add(std::log(step * sd) + log_normal(log_scale, 2.5, 0.4) + likelihood(log_scale, freedom));
    }
    return sum.value() - std::log(20.0);
  });
}

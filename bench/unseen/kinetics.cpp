// Decays to a baseline with noise of 6 units. Exact: normal priors, and quadrature over one or two time
// constants.
#include <occam/simulator.h>

#include "more.h"

constexpr double kStep = 0.25, kNoise = 6;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const double t = i * kStep;
    double mean = p["baseline"];
    if (p.has("tau")) mean += p["rise"] * std::exp(-t / p["tau"]);
    if (p.has("slope")) mean += p["slope"] * t;
    if (p.is("two"))
      mean += p["fast_rise"] * std::exp(-t / p["fast_tau"]) + p["slow_rise"] * std::exp(-t / p["slow_tau"]);
    out(i, 0) = rng.normal(mean, kNoise);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  std::vector<double> y(n);
  for (long i = 0; i < n; ++i) y[i] = data(i, 0) - 200.0;
  if (p.is("two")) {
    return log_integral_around<2>(
        {0, 1.8},
        [&](std::array<double, 2> x) {
          const double fall1 = std::exp(-kStep / std::exp(x[0])), fall2 = std::exp(-kStep / std::exp(x[1]));
          Sums<3> sums;
          double a = 1, b = 1;
          for (long i = 0; i < n; ++i, a *= fall1, b *= fall2) sums.add({1, a, b}, y[i] - 45 * a - 45 * b);
          return log_normal(x[0], 0, 0.3) + log_normal(x[1], 1.8, 0.3) + sums.evidence(kNoise, {30, 20, 20});
        },
        0.35);
  }
  return log_integral_around<1>({1}, [&](std::array<double, 1> x) {
    const double fall = std::exp(-kStep / std::exp(x[0]));
    Sums<3> sums;
    double a = 1;
    for (long i = 0; i < n; ++i, a *= fall) sums.add({1, a, i * kStep}, y[i] - 90 * a);
    return log_normal(x[0], 1, 0.5) + sums.evidence(kNoise, {30, 25, p.is("bleaching") ? 0.7 : 0});
  });
}

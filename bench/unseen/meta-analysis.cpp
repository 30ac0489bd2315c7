// Effects of studies with known standard errors. Exact: normal, and quadrature over the heterogeneity.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double effect = p.has("mean") ? p["mean"] : 0;
    if (p.has("tau")) effect += p["tau"] * rng.normal();
    out(i, "effect") = rng.normal(effect, out.design(i, "se"));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  std::vector<double> y(n), s2(n);
  for (long i = 0; i < n; ++i) {
    y[i] = data(i, "effect");
    s2[i] = double(data(i, "se")) * data(i, "se");
  }
  const auto with = [&](double tau, double prior_variance) {
    double w = 0, wy = 0, sum = 0;
    for (long i = 0; i < n; ++i) {
      const double v = s2[i] + tau * tau;
      w += 1 / v;
      wy += y[i] / v;
      sum -= 0.5 * (y[i] * y[i] / v + std::log(2 * kPi * v));
    }
    return sum + 0.5 * prior_variance * wy * wy / (1 + prior_variance * w) -
           0.5 * std::log(1 + prior_variance * w);
  };
  if (p.is("none")) return with(0, 0);
  if (p.is("common")) return with(0, 9);
  return log_integral(0, 13, 26,
                      [&](double tau) { return std::log(2.0) + log_normal(tau, 0, 2) + with(tau, 9); });
}

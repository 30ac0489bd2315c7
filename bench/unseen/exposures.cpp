// Cases in districts of very different size. Exact: the rate has a gamma prior; quadrature over the power, or
// over rate and shape.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    out(i, "exposure") = std::pow(10, rng.uniform(1, 6));
    double mean = p["rate"] * out(i, "exposure") / 1000;
    if (p.has("shape")) mean *= rng.gamma(p["shape"], 1 / p["shape"]);
    if (p.has("power")) mean *= std::pow(out(i, "exposure") / 3000, p["power"]);
    out(i, "cases") = rng.poisson(mean);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  std::vector<double> e(n), y(n), logs(n);
  double cases = 0, years = 0, fixed = 0, with_size = 0;
  for (long i = 0; i < n; ++i) {
    e[i] = data(i, "exposure") / 1000.0;
    y[i] = data(i, "cases");
    logs[i] = std::log(e[i] / 3);
    cases += y[i];
    years += e[i];
    fixed += y[i] * std::log(e[i]) - std::lgamma(y[i] + 1);
    with_size += y[i] * logs[i];
  }
  const auto rate = [&](double exposure) {
    return std::lgamma(2 + cases) - (2 + cases) * std::log(1 + exposure);
  };
  if (p.is("same")) return fixed + rate(years);
  if (p.is("size")) {
    // Steps in units of the standard deviation of the prior.
    return fixed + std::log(0.15) + log_integral_around<1>({0}, [&](std::array<double, 1> x) {
             const double power = 0.15 * x[0];
             double exposure = 0;
             for (long i = 0; i < n; ++i) exposure += e[i] * std::exp(power * logs[i]);
             return log_normal(power, 0, 0.15) + power * with_size + rate(exposure);
           });
  }
  return fixed + log_integral_around<2>(
                     {std::log((cases + 2) / (years + 1)), 1.5},
                     [&](std::array<double, 2> x) {
                       const double k = std::exp(x[1]), r = std::exp(x[0]);
                       double sum = log_gamma_log(x[0], 2, 1) + log_normal(x[1], 1.5, 0.8) +
                                    n * (k * x[1] - std::lgamma(k)) + cases * x[0];
                       for (long i = 0; i < n; ++i)
                         sum += std::lgamma(y[i] + k) - (y[i] + k) * std::log(k + r * e[i]);
                       return sum;
                     },
                     0.6);
}

// Choices between two sums. Exact: quadrature over both parameters of a model.
#include <occam/simulator.h>

#include "more.h"

double worth(const occam::Parameters& p, double parameter, double sum, double delay) {
  if (p.is("exponential")) return sum * std::exp(-parameter * delay);
  if (p.is("hyperbolic")) return sum / (1 + parameter * delay);
  return sum - parameter * delay;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double parameter = p[p.is("fixed") ? "cost" : "rate"];
  for (long i = 0; i < out.n(); ++i) {
    const double later = std::round(rng.uniform(20, 100)), now = std::round(later * rng.uniform(0.1, 0.95));
    const double delay = std::round(std::exp(rng.uniform(0, std::log(365.0))));
    const double z = p["steepness"] * (worth(p, parameter, later, delay) - now) / 10;
    out(i, "now") = static_cast<float>(now);
    out(i, "later") = static_cast<float>(later);
    out(i, "delay") = static_cast<float>(delay);
    out(i, "waits") = rng.bernoulli(logistic(z));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double middle = p.is("fixed") ? -1.5 : -4.5;
  return log_integral_around<2>(
      {0, middle},
      [&](std::array<double, 2> x) {
        const double steepness = std::exp(x[0]) / 10, parameter = std::exp(x[1]);
        double sum = log_normal(x[0], 0, 0.5) + log_normal(x[1], middle, 1);
        for (long i = 0; i < data.n(); ++i) {
          const double z = steepness * (worth(p, parameter, data(i, 1), data(i, 2)) - data(i, 0));
          sum -= log1pexp(data(i, 3) == 1 ? -z : z);
        }
        return sum;
      },
      0.25);
}

// Durations. Exact: rates have conjugate gamma priors, shapes are integrated out by quadrature.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    if (p.is("exponential")) out(i, 0) = rng.exponential(p["rate"]);
    if (p.is("gamma")) out(i, 0) = rng.gamma(p["shape"], 1 / p["rate"]);
    if (p.is("weibull")) out(i, 0) = std::pow(rng.exponential(p["rate"]), 1 / p["shape"]);
    if (p.is("lognormal")) out(i, 0) = std::exp(std::sqrt(p["variance"]) * (p["mean"] + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  std::vector<double> logs;
  double sum = 0, log_sum = 0;
  for (long i = 0; i < data.n(); ++i) {
    logs.push_back(std::log(double(data(i, 0))));
    sum += data(i, 0);
    log_sum += logs.back();
  }
  if (p.is("lognormal")) {
    Regression mean({0}, {1});
    for (const double one : logs) mean.add({1}, one);
    return mean.with_variance_prior(3, 2) - log_sum;
  }
  // n events in a total time, rate ~ gamma(2, 1).
  if (p.is("exponential")) return log_rate_evidence(sum, n, 2, 1);
  if (p.is("gamma")) {
    return log_integral(0.5, 4, 12, [&](double k) {
      return log_rate_evidence(sum, n * k, 2, 1) + (k - 1) * log_sum - n * std::lgamma(k) - std::log(3.5);
    });
  }
  return log_integral(0.5, 4, 10, [&](double k) {
    double powers = 0;
    for (const double one : logs) powers += std::exp(k * one);
    return log_rate_evidence(powers, n, 2, 1) + (k - 1) * log_sum + n * std::log(k) - std::log(3.5);
  });
}

// Times to relapse, censored at the end of a follow-up of 6 to 60 months. Survival is exp(-rate (t /
// 12)^shape), in model `cured` for some patients only. Exact: the rate has a gamma prior; quadrature over the
// shape, or over rate and share.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double shape = p.has("shape") ? p["shape"] : 1;
  for (long i = 0; i < out.n(); ++i) {
    const double end = rng.uniform(6, 60);
    double time = 12 * std::pow(rng.exponential(p["rate"]), 1 / shape);
    if (p.has("share") && rng.bernoulli(p["share"])) time = 1e9;
    out(i, "time") = std::min(time, end);
    out(i, "event") = time < end;
  }
  return true;
}

// The density of the follow-up is the same for all models.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double events = 0, years = 0, logs = 0;
  std::vector<double> censored, all;
  for (long i = 0; i < data.n(); ++i) {
    const double t = std::max(1e-12, data(i, "time") / 12.0);
    years += t;
    all.push_back(std::log(t));
    if (data(i, "event") == 1) {
      ++events;
      logs += std::log(t);
    } else {
      censored.push_back(t);
    }
  }
  const auto rate = [&](double exposure) {
    return std::lgamma(2 + events) - 2 * std::log(0.25) - (2 + events) * std::log(4 + exposure);
  };
  if (p.is("exponential")) return rate(years);
  if (p.is("weibull")) {
    return log_integral_around<1>({0}, [&](std::array<double, 1> x) {
      const double k = std::exp(x[0]);
      double exposure = 0;
      for (const double log_t : all) exposure += std::exp(k * log_t);
      return log_normal(x[0], 0, 0.4) + events * x[0] + (k - 1) * logs + rate(exposure);
    });
  }
  const double first = std::log((events + 2) / (years + 4));
  double in_events = 0;
  for (const double t : censored) in_events += t;
  in_events = years - in_events;
  return log_integral_around<2>({first, -1}, [&](std::array<double, 2> x) {
    const double r = std::exp(x[0]), share = logistic(x[1]);
    double sum = log_gamma_log(x[0], 2, 0.25) + log_beta_logit(x[1], 2, 4) +
                 events * (std::log(1 - share) + x[0]) - r * in_events;
    double product = 1;
    for (const double t : censored) {
      product *= share + (1 - share) * std::exp(-r * t);
      if (product < 1e-200) {
        sum += std::log(product);
        product = 1;
      }
    }
    return sum + std::log(product);
  });
}

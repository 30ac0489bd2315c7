// Counts. Exact: conjugate priors, and a sum over how many of the zeros come from traps that never catch.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    if (p.is("poisson")) out(i, 0) = rng.poisson(p["rate"]);
    if (p.is("negative_binomial")) out(i, 0) = rng.poisson(rng.gamma(2, (1 - p["p"]) / p["p"]));
    if (p.is("zero_inflated")) out(i, 0) = rng.bernoulli(p["empty"]) ? 0 : rng.poisson(p["rate"]);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  double sum = 0, factorials = 0, ways = 0, zeros = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, 0);
    sum += x;
    factorials += std::lgamma(x + 1);
    ways += std::log(x + 1);
    zeros += x == 0;
  }
  if (p.is("poisson")) return log_rate_evidence(n, sum, 2, 2) - factorials;
  if (p.is("negative_binomial")) return ways + log_beta(3 + 2 * n, 3 + sum) - log_beta(3, 3);
  LogSum total;
  for (double never = 0; never <= zeros; ++never) {
    if (never == n) {
      total.add(log_beta(2 + n, 4) - log_beta(2, 4));
      continue;
    }
    total.add(log_choose(zeros, never) + log_beta(2 + never, 4 + n - never) - log_beta(2, 4) +
              log_rate_evidence(n - never, sum, 2, 2));
  }
  return total.value() - factorials;
}

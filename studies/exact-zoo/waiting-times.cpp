// Waiting times: the sum of k exponential steps, k = 1 or 2. Exact: the rate has a conjugate gamma prior.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double steps = p.is("one_step") ? 1 : 2;
  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.gamma(steps, 1 / p["rate"]);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double steps = p.is("one_step") ? 1 : 2;
  double sum = 0, log_sum = 0;
  for (long i = 0; i < data.n(); ++i) {
    sum += data(i, 0);
    log_sum += std::log(data(i, 0));
  }
  return log_rate_evidence(sum, steps * data.n(), 2, 1) + (steps - 1) * log_sum;
}

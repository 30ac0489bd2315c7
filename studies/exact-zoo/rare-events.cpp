// Rare successes among up to 5,000 trials. Exact: beta priors are conjugate.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double rate = p["rate"];
  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.bernoulli(rate);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double events = 0;
  for (long i = 0; i < data.n(); ++i) events += data(i, 0);
  const double others = data.n() - events;
  if (p.is("known")) return events * std::log(p["rate"]) + others * std::log(1 - p["rate"]);
  const double b = p.is("similar") ? 98 : 20;
  return log_beta(2 + events, b + others) - log_beta(2, b);
}

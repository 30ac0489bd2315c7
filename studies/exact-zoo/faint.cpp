// Normal values of unit variance whose mean is 0 or nearly so. Exact: conjugate.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.normal(p["mean"], 1);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const bool signal = p.is("signal");
  Regression mean(std::vector<double>(signal, 0.0), std::vector<double>(signal, 0.25));
  for (long i = 0; i < data.n(); ++i) mean.add(std::vector<double>(signal, 1.0), data(i, 0));
  return mean.with_sigma(1);
}

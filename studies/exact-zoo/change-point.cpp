// Poisson counts, with or without a change of the rate. Exact: conjugate, and a sum over all days of the change.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const long change = p.is("changed") ? 1 + static_cast<long>(p["when"] * (out.n() - 1)) : out.n();
  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.poisson(i < change ? p["rate"] : p["later"]);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  double total = 0, factorials = 0;
  for (long i = 0; i < n; ++i) {
    total += data(i, 0);
    factorials += std::lgamma(data(i, 0) + 1);
  }
  if (p.is("steady")) return log_rate_evidence(n, total, 2, 2) - factorials;
  LogSum sum;
  double before = 0;
  for (long change = 1; change < n; ++change) {
    before += data(change - 1, 0);
    sum.add(log_rate_evidence(change, before, 2, 2) + log_rate_evidence(n - change, total - before, 2, 2));
  }
  return sum.value() - std::log(n - 1.0) - factorials;
}

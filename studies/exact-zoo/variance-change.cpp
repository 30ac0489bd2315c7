// Normal noise, with or without a change of its variance. Exact: conjugate, and a sum over all places of the change.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const long change = p.is("changed") ? 1 + static_cast<long>(p["when"] * (out.n() - 1)) : out.n();
  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.normal(0, std::sqrt(i < change ? p["variance"] : p["later"]));
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  double total = 0;
  for (long i = 0; i < n; ++i) total += double(data(i, 0)) * data(i, 0);
  if (p.is("steady")) return log_variance_evidence(n, total, 3, 2);
  LogSum sum;
  double before = 0;
  for (long change = 1; change < n; ++change) {
    before += double(data(change - 1, 0)) * data(change - 1, 0);
    sum.add(log_variance_evidence(change, before, 3, 2) + log_variance_evidence(n - change, total - before, 3, 2));
  }
  return sum.value() - std::log(n - 1.0);
}

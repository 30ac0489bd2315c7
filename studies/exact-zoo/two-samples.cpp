// Two groups of normal values. Exact: normal-inverse-gamma priors are conjugate.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const bool second = out.design(i, "group") == 1;
    const double mean = second && p.has("mean1") ? p["mean1"] : p["mean"];
    const double variance = second && p.has("variance1") ? p["variance1"] : p["variance"];
    out(i, "y") = std::sqrt(variance) * (mean + rng.normal());
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Regression same({0}, {1}), means({0, 0}, {1, 1}), first({0}, {1}), second({0}, {1});
  for (long i = 0; i < data.n(); ++i) {
    const double group = data(i, "group"), y = data(i, "y");
    same.add({1}, y);
    means.add({1 - group, group}, y);
    (group == 1 ? second : first).add({1}, y);
  }
  if (p.is("same")) return same.with_variance_prior(3, 2);
  if (p.is("means")) return means.with_variance_prior(3, 2);
  return first.with_variance_prior(3, 2) + second.with_variance_prior(3, 2);
}

// Binary outcomes in four groups. Exact: beta priors are conjugate.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const char* names[] = {"p1", "p2", "p3", "p4"};
  for (long i = 0; i < out.n(); ++i) {
    const int school = static_cast<int>(out.design(i, "school"));
    const double pass = p.is("coin") ? 0.5 : p.is("common") ? p["p1"] : p[names[school - 1]];
    out(i, "passed") = rng.bernoulli(pass);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("coin")) return -data.n() * std::log(2.0);
  double passed[4] = {}, failed[4] = {};
  for (long i = 0; i < data.n(); ++i) {
    const int school = p.is("common") ? 0 : static_cast<int>(data(i, "school")) - 1;
    ++(data(i, "passed") == 1 ? passed : failed)[school];
  }
  double sum = 0;
  for (int k = 0; k < 4; ++k) sum += log_beta(3 + passed[k], 3 + failed[k]) - log_beta(3, 3);
  return sum;
}

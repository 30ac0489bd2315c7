// Four nested regressions on one predictor. Exact: normal-inverse-gamma priors are conjugate.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sigma = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const float x = rng.uniform(-2, 2);
    double y = p["b0"] + rng.normal();
    if (p.has("b1")) y += p["b1"] * x;
    if (p.has("b2")) y += p["b2"] * x * x;
    if (p.has("b3")) y += p["b3"] * x * x * x;
    out(i, 0) = x;
    out(i, 1) = sigma * y;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::vector<double> sd = {1};
  for (const char* name : {"b1", "b2", "b3"}) {
    if (p.has(name)) sd.push_back(0.5);
  }
  Regression regression(std::vector<double>(sd.size(), 0.0), sd);
  for (long i = 0; i < data.n(); ++i) {
    std::vector<double> powers = {1};
    while (powers.size() < sd.size()) powers.push_back(powers.back() * data(i, 0));
    regression.add(powers, data(i, 1));
  }
  return regression.with_variance_prior(3, 2);
}

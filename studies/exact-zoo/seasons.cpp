// A wave of one of ten periods in noise. Exact: the amplitudes have normal priors.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const double angle = 2 * kPi * i / p["period"];
    out(i, 0) = p["cosine"] * std::cos(angle) + p["sine"] * std::sin(angle) + rng.normal();
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Regression wave({0, 0}, {1, 1});
  for (long i = 0; i < data.n(); ++i) {
    const double angle = 2 * kPi * i / p["period"];
    wave.add({std::cos(angle), std::sin(angle)}, data(i, 0));
  }
  return wave.with_sigma(1);
}

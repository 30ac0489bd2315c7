// One line of unknown height in a noisy spectrum that is seen at random places. Exact: the height has a normal prior.
#include <occam/simulator.h>

#include "exact.h"

double peak(double x, double centre) {
  const double z = (x - centre) / 0.04;
  return std::exp(-z * z / 2);
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    out(i, 0) = rng.uniform();
    out(i, 1) = p["height"] * peak(out(i, 0), p["centre"]) + rng.normal();
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Regression height({3}, {1});
  for (long i = 0; i < data.n(); ++i) height.add({peak(data(i, 0), p["centre"])}, data(i, 1));
  return height.with_sigma(1);
}

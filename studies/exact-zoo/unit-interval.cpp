// Points in the unit interval, of density 1, 6 x (1 - x), or 12 (x - 1/2)^2. Exact: there are no parameters.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    if (p.is("anywhere")) out(i, 0) = rng.uniform();
    if (p.is("middle")) out(i, 0) = rng.beta(2, 2);
    if (p.is("edges")) out(i, 0) = 0.5 + 0.5 * std::cbrt(2 * rng.uniform() - 1);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double sum = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, 0);
    if (p.is("middle")) sum += std::log(6 * x * (1 - x));
    if (p.is("edges")) sum += std::log(12 * (x - 0.5) * (x - 0.5));
  }
  return sum;
}

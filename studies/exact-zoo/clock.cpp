// Frequencies around 1e9 Hz. Single precision stores them in steps of 64 Hz, a thirtieth of the noise: the density then
// is that of the true values to 1e-4 of the variance. Exact: normal prior of the shift, quadrature over the noise.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double shift = p.is("off") ? p["shift"] : 0;
  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.normal(1e9 + shift, p["sd"]);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Regression shift({0}, {1500});
  double squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, 0) - 1e9;
    shift.add({1}, x);
    squares += x * x;
  }
  if (p.is("off")) return shift.with_sigma(p["sd"]);
  const auto log_likelihood = [&](double sd) {
    return -squares / (2 * sd * sd) - data.n() * std::log(std::sqrt(2 * kPi) * sd);
  };
  if (p.is("right")) return log_likelihood(p["sd"]);
  return log_integral(2000, 4000, 4, log_likelihood) - std::log(2000.0);
}

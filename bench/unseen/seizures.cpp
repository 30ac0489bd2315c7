// Counts whose rate has one of two priors. Exact: quadrature over the rate.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.poisson(p["rate"]);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n(), middle = p.is("rare") ? 1 : 3;
  double sum = 0;
  for (long i = 0; i < data.n(); ++i) sum += data(i, 0);
  return log_integral_around<1>({std::log((sum + 1) / (n + 0.3))}, [&](std::array<double, 1> x) {
    return log_normal(x[0], middle, 1.5) + sum * x[0] - n * std::exp(x[0]);
  });
}

// Two columns 18 orders of magnitude apart, with or without a correlation. Exact by quadrature over rho.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double rho = p.is("correlated") ? p["rho"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    const double z = rng.normal();
    out(i, "current") = 1e-9 * z;
    out(i, "frequency") = 1e9 * (rho * z + std::sqrt(1 - rho * rho) * rng.normal());
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double squares = 0, products = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, 0) * 1e9, y = data(i, 1) * 1e-9;
    squares += x * x + y * y;
    products += x * y;
  }
  const double n = data.n();
  const auto log_likelihood = [&](double rho) {
    const double rest = 1 - rho * rho;
    return -n * std::log(2 * kPi) - n / 2 * std::log(rest) - (squares - 2 * rho * products) / (2 * rest);
  };
  if (p.is("independent")) return log_likelihood(0);
  return log_integral(-0.5, 0.5, 32, log_likelihood);
}

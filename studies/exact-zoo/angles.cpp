// Angles: uniform, von Mises around a direction, or twice the angle von Mises. Exact: the direction is integrated out
// with a Bessel function, kappa by quadrature.
#include <occam/simulator.h>

#include "exact.h"

double wrapped(double angle) { return std::remainder(angle, 2 * kPi); }

// Best & Fisher 1979.
double von_mises(double kappa, occam::Random& rng) {
  const double a = 1 + std::sqrt(1 + 4 * kappa * kappa);
  const double b = (a - std::sqrt(2 * a)) / (2 * kappa);
  const double r = (1 + b * b) / (2 * b);
  for (;;) {
    const double z = std::cos(kPi * rng.uniform());
    const double f = (1 + r * z) / (r + z);
    const double c = kappa * (r - f);
    const double u = rng.uniform();
    if (c * (2 - c) > u || std::log(c / u) + 1 >= c) return std::acos(f) * (rng.bernoulli(0.5) ? 1 : -1);
  }
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double angle = rng.uniform(-kPi, kPi);
    if (!p.is("anywhere")) angle = wrapped(p["direction"] + von_mises(p["kappa"], rng));
    if (p.is("two_ways")) angle = angle / 2 + (rng.bernoulli(0.5) ? kPi / 2 : -kPi / 2);
    out(i, 0) = angle;
  }
  return true;
}

// log I_0(x): series, asymptotic from 30 on (relative error 1e-8).
double log_bessel(double x) {
  if (x > 30) {
    const double y = 1 / (8 * x);
    return x - 0.5 * std::log(2 * kPi * x) + std::log1p(y * (1 + y * (4.5 + y * (37.5 + y * 459.375))));
  }
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= x * x / (4.0 * k * k);
  return std::log(sum);
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  const double times = p.is("two_ways") ? 2 : 1;
  double c = 0, s = 0;
  for (long i = 0; i < data.n(); ++i) {
    c += std::cos(times * data(i, 0));
    s += std::sin(times * data(i, 0));
  }
  const double resultant = std::hypot(c, s);
  if (p.is("anywhere")) return -n * std::log(2 * kPi);
  return log_integral(0, 20, 20, [&](double kappa) {
    return std::log(4 * kappa) - 2 * kappa + log_bessel(kappa * resultant) - n * log_bessel(kappa) -
           n * std::log(2 * kPi);
  });
}

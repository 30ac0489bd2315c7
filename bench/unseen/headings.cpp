// A series of angles: uniform, von Mises around one direction, or each von Mises around the one before.
// Exact: Bessel functions, quadrature over the concentration.
#include <occam/simulator.h>

#include "more.h"

// log of exp(-x) I0(x).
static double log_bessel(double x) {
  if (x < 100) return std::log(std::cyl_bessel_i(0, x)) - x;
  const double u = 1 / (8 * x);
  return std::log1p(u * (1 + u * (4.5 + u * 37.5))) - 0.5 * std::log(2 * kPi * x);
}

static double von_mises(occam::Random& rng, double strength) {
  for (;;) {
    const double angle = rng.uniform(-kPi, kPi);
    if (std::log(rng.uniform()) < strength * (std::cos(angle) - 1)) return angle;
  }
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long t = 0; t < out.n(); ++t) {
    double angle = rng.uniform(-kPi, kPi);
    if (p.is("towards")) angle = p["where"] + von_mises(rng, p["strength"]);
    if (p.is("onwards") && t > 0) angle = out(t - 1, "heading") + von_mises(rng, p["strength"]);
    out(t, "heading") = std::remainder(angle, 2 * kPi);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("any")) return 0;  // beside a factor of all
  double c = 0, s = 0, turned = 0;
  for (long t = 0; t < data.n(); ++t) {
    c += std::cos(data(t, "heading"));
    s += std::sin(data(t, "heading"));
    if (t > 0) turned += std::cos(data(t, "heading") - data(t - 1, "heading"));
  }
  const double m = static_cast<double>(data.n() - (p.is("onwards") ? 1 : 0)), length = std::hypot(c, s);
  return log_integral(0, 6, 60 * FINE, [&](double k) {
    const double prior = std::log(16 * k) - 4 * k;
    if (p.is("onwards")) return prior + k * (turned - m) - m * log_bessel(k);
    return prior + log_bessel(k * length) + k * (length - m) - m * log_bessel(k);
  });
}

// Densities from year to year. Exact: growth is a regression on the density before, quadrature over its
// noise.
#include <occam/simulator.h>

#include "more.h"

// How far from its usual place the density is, as each model feels it.
static double felt(const occam::Parameters& p, double density) {
  return p.is("gompertz") ? std::log(density / 55) : density / 55 - 1;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double logarithm = std::log(55.0) + 0.4 * rng.normal();
  for (long i = 0; i < out.n(); ++i) {
    if (i > 0) {
      const double pull = p.is("free") ? 0 : p["pull"] * felt(p, out(i - 1, "density"));
      logarithm = std::log(double(out(i - 1, "density"))) + p["growth"] - pull + p["noise"] * rng.normal();
    }
    if (!(std::abs(logarithm) < 50)) return false;  // a pull below 0, hardly ever
    out(i, "density") = std::exp(logarithm);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Sums<2> sums;
  for (long i = 1; i < data.n(); ++i) {
    const double before = data(i - 1, 0), pull = -felt(p, before);
    const double growth = std::log(double(data(i, 0))) - std::log(before);
    sums.add({1, pull}, p.is("free") ? growth : growth - 0.4 * pull);
  }
  return log_integral_around<1>({-1.5}, [&](std::array<double, 1> x) {
    return log_normal(x[0], -1.5, 0.3) + sums.evidence(std::exp(x[0]), {0.03, p.is("free") ? 0 : 0.1});
  });
}

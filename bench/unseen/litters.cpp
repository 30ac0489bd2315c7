// Weights of the pups of 4 to 24 litters, about half of them treated: all pups of a litter or none. Exact:
// regression on the means of litters given the ratio of the standard deviations, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const int litters = static_cast<int>(rng.integer(4, 24));
  const double sd = std::sqrt(p["variance"]);
  std::vector<double> treated(litters), own(litters);
  for (int k = 0; k < litters; ++k) {
    treated[k] = rng.uniform() < 0.5 ? 1 : 0;
    own[k] = p["level"] + (p.has("effect") ? p["effect"] * treated[k] : 0) +
             (p.has("spread") ? p["spread"] * rng.normal() : 0);
  }
  for (long i = 0; i < out.n(); ++i) {
    const long k = rng.integer(0, litters - 1);
    out(i, "litter") = static_cast<double>(k + 1);
    out(i, "treated") = treated[k];
    out(i, "weight") = 6 + sd * (own[k] + rng.normal());
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double count[25] = {}, sum[25] = {}, treated[25] = {}, squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double y = data(i, "weight") - 6.0;
    const int k = static_cast<int>(data(i, "litter"));
    ++count[k];
    sum[k] += y;
    treated[k] = data(i, "treated");
    squares += y * y;
  }
  // In units of the variance within: level and effect have prior variances 4 and .49.
  const bool acts = p.has("effect");
  const auto with = [&](double spread) {
    const double v = spread * spread, a_prior = 1 / 4.0, b_prior = 1 / 0.49;
    double a = a_prior, ab = 0, b = b_prior, ya = 0, yb = 0, rest = squares, log_det = 0;
    for (int k = 1; k <= 24; ++k) {
      const double shrink = 1 + v * count[k], w = count[k] / shrink, d = acts ? treated[k] : 0;
      a += w;
      ab += w * d;
      b += w * d;
      ya += sum[k] / shrink;
      yb += d * sum[k] / shrink;
      rest -= v * sum[k] * sum[k] / shrink;
      log_det += std::log(shrink);
    }
    const double det = a * b - ab * ab;
    rest -= (b * ya * ya - 2 * ab * ya * yb + a * yb * yb) / det;
    log_det += std::log(det) - std::log(a_prior * b_prior);
    return -0.5 * log_det + log_variance_evidence(data.n(), rest, 4, 3);
  };
  if (!p.has("spread")) return with(0);
  return log_integral(
      0, 4.9, 14, [&](double spread) { return std::log(2.0) + log_normal(spread, 0, 0.7) + with(spread); });
}

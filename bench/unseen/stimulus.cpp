// A response with memory to an input that is drawn anew in each row. Exact: a regression, quadrature over its
// noise. The first three rows are alike in all models.
#include <occam/simulator.h>

#include "more.h"

static int delay(const occam::Parameters& p) {
  return p.is("at-once") ? 0 : p.is("next-sample") ? 1 : 3;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    out(i, "light") = 80 + 25 * rng.normal();
    if (i < 3) {
      out(i, "pupil") = 4 + 0.1 * rng.normal();
      continue;
    }
    const double input = p.is("blind") ? 0 : p["effect"] * (double(out(i - delay(p), "light")) - 80) / 25;
    out(i, "pupil") =
        4 + p["memory"] * (double(out(i - 1, "pupil")) - 4) + sd * (p["level"] + input + rng.normal());
    if (std::abs(out(i, "pupil")) > 1e3) return false;  // memory above 1, rarely
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Sums<3> sums;
  for (long i = 3; i < data.n(); ++i) {
    const double before = data(i - 1, 1) - 4.0, input = (data(i - delay(p), 0) - 80.0) / 25;
    sums.add({1, before, input}, data(i, 1) - 4.0 - 0.4 * before);
  }
  return log_integral_around<1>({-4.6}, [&](std::array<double, 1> x) {
    const double variance = std::exp(x[0]), sd = std::sqrt(variance);
    // the logarithm of an inverse_gamma(3, .02)
    const double prior = 3 * std::log(0.02) - std::lgamma(3.0) - 3 * x[0] - 0.02 / variance;
    return prior + sums.evidence(sd, {sd, 0.15, p.is("blind") ? 0 : 0.5 * sd});
  });
}

// Trials of 4 to 16 people at doses from 0 to 4. Exact: conjugate given both spreads, over which quadrature
// goes.
#include "slopes.h"

#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto people = rng.integer(4, 16);
  double own[16], effect[16];
  for (int k = 0; k < 16; ++k) {
    own[k] = p["spread"] * rng.normal();
    effect[k] = p.is("none") ? 0 : p["effect"] + (p.is("differ") ? p["effect_spread"] * rng.normal() : 0);
  }
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const auto k = rng.integer(0, people - 1);
    const auto dose = static_cast<float>(0.5 * static_cast<double>(rng.integer(0, 8)));
    out(i, "person") = static_cast<float>(k + 1);
    out(i, "dose") = dose;
    out(i, "performance") =
        static_cast<float>(50 + sd * (p["level"] + own[k] + effect[k] * (dose - 2) + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::vector<Information> people(16);
  for (long i = 0; i < data.n(); ++i)
    people[static_cast<std::size_t>(data(i, 0)) - 1].add(1, 1, data(i, 1) - 2.0, data(i, 2) - 50.0);
  const auto with = [&](double spread, double effect_spread) {
    Information all;
    for (Information one : people) {
      one.take(0, spread);
      one.take(1, effect_spread);
      all.add(one);
    }
    all.take(0, 2);
    all.take(1, p.is("none") ? 0 : 0.3);
    return -0.5 * all.log_det + log_variance_evidence(static_cast<double>(data.n()), all.yy, 4, 300);
  };
  const auto over_spread = [&](double effect_spread) {
    return log_integral(0, 4.8, 10 * FINE,
                        [&](double s) { return log_half_normal(s, 0.8) + with(s, effect_spread); });
  };
  if (!p.is("differ")) return over_spread(0);
  return log_integral(0, 1.8, 10 * FINE, [&](double t) { return log_half_normal(t, 0.3) + over_spread(t); });
}

// Yields of crosses between 3 to 8 lines, each as mother and as father. Exact: mixed models, conjugate given
// the spreads, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kLines = 8;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto lines = rng.integer(3, kLines);
  double mother[kLines] = {}, father[kLines] = {};
  if (!p.is("none")) {
    for (double& one : mother) one = p["spread"] * rng.normal();
  }
  for (std::size_t i = 0; i < kLines; ++i)
    father[i] = p.is("parents") ? mother[i] : p.is("roles") ? p["spread_of_fathers"] * rng.normal() : 0;
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const auto she = rng.integer(1, lines), he = rng.integer(1, lines);
    out(i, "mother") = static_cast<float>(she);
    out(i, "father") = static_cast<float>(he);
    out(i, "yield") =
        static_cast<float>(10 + sd * (p["level"] + mother[she - 1] + father[he - 1] + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  // Level, lines as mothers (or as both), lines as fathers.
  MixedSums sums(1 + 2 * kLines);
  std::vector<double> in(1 + 2 * kLines);
  for (long i = 0; i < data.n(); ++i) {
    const auto she = static_cast<std::size_t>(data(i, 0));
    const auto he = static_cast<std::size_t>(data(i, 1)) + (p.is("parents") ? 0 : kLines);
    // A line crossed with itself counts twice.
    if (she == he) sums.add({{0, 1.0}, {she, 2.0}}, data(i, 2) - 10.0);
    if (she != he) sums.add({{0, 1.0}, {she, 1.0}, {he, 1.0}}, data(i, 2) - 10.0);
    in[she] = in[he] = 1;
  }
  const auto with = [&](double mothers, double fathers) {
    std::vector<double> sd = in;
    for (std::size_t i = 1; i < sd.size(); ++i) sd[i] *= i <= kLines ? mothers : fathers;
    sd[0] = 3;
    return sums.evidence(sd, 4, 3);
  };
  const auto over = [](int panels, auto f) {
    return log_integral(0, 4.2, panels * FINE, [&](double s) { return log_half_normal(s, 0.7) + f(s); });
  };
  if (p.is("none")) return with(0, 0);
  if (!p.is("roles")) return over(10, [&](double s) { return with(s, 0); });
  return over(6, [&](double s) { return over(6, [&](double t) { return with(s, t); }); });
}

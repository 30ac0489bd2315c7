// Margins of matches between 4 to 12 teams. Exact: a mixed model, conjugate given the spread of strengths.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kTeams = 12;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto teams = rng.integer(4, kTeams);
  double strength[kTeams] = {};
  if (p.has("spread")) {
    for (double& one : strength) one = p["spread"] * rng.normal();
  }
  const double sd = std::sqrt(p["variance"]), advantage = p.has("advantage") ? p["advantage"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    const auto home = rng.integer(1, teams);
    auto away = rng.integer(1, teams - 1);
    if (away >= home) ++away;
    out(i, "home") = static_cast<float>(home);
    out(i, "away") = static_cast<float>(away);
    out(i, "margin") =
        static_cast<float>(sd * (advantage + strength[home - 1] - strength[away - 1] + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  MixedSums sums(1 + kTeams);
  for (long i = 0; i < data.n(); ++i) {
    sums.add(
        {{0, 1.0}, {static_cast<std::size_t>(data(i, 0)), 1.0}, {static_cast<std::size_t>(data(i, 1)), -1.0}},
        data(i, 2));
  }
  const auto with = [&](double spread) {
    std::vector<double> sd(1 + kTeams, spread);
    sd[0] = p.has("advantage") ? 0.5 : 0;
    return sums.evidence(sd, 5, 500);
  };
  if (!p.has("spread")) return with(0);
  return log_integral(0, 3, 10 * FINE, [&](double s) { return log_half_normal(s, 0.5) + with(s); });
}

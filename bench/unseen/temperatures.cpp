// Cosines and sines of the hour. Exact: conjugate regressions.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]);
  const auto of = [&](const char* name) { return p.has(name) ? p[name] : 0; };
  for (long i = 0; i < out.n(); ++i) {
    const double a = 2 * kPi * out(i, "hour") / 24;
    out(i, "temperature") = static_cast<float>(
        37 + sd * (p["level"] + of("cosine") * std::cos(a) + of("sine") * std::sin(a) +
                   of("half_cosine") * std::cos(2 * a) + of("half_sine") * std::sin(2 * a) + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  MixedSums sums(5);
  for (long i = 0; i < data.n(); ++i) {
    const double a = 2 * kPi * data(i, 0) / 24;
    sums.add({{0, 1.0}, {1, std::cos(a)}, {2, std::sin(a)}, {3, std::cos(2 * a)}, {4, std::sin(2 * a)}},
             data(i, 1) - 37.0);
  }
  const double once = p.has("cosine") ? 0.7 : 0, twice = p.has("half_cosine") ? 0.7 : 0;
  return sums.evidence({2, once, once, twice, twice}, 4, 0.3);
}

// Two series, each on its own value before and perhaps on the other's. Exact: two regressions, quadrature
// over their noise. The first row is alike in all models.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double to_heart = p.has("to_heart") ? p["to_heart"] : 0,
               to_skin = p.has("to_skin") ? p["to_skin"] : 0;
  out(0, "skin") = rng.normal(5, 1);
  out(0, "heart") = rng.normal(70, 8);
  for (long i = 1; i < out.n(); ++i) {
    const double skin = out(i - 1, "skin") - 5.0, heart = out(i - 1, "heart") - 70.0;
    out(i, "skin") =
        5 + p["skin_level"] + p["skin_memory"] * skin + to_skin * heart + p["skin_noise"] * rng.normal();
    out(i, "heart") =
        70 + p["heart_level"] + p["heart_memory"] * heart + to_heart * skin + p["heart_noise"] * rng.normal();
    if (std::abs(out(i, "heart")) > 1e4) return false;  // about once in 20,000 data sets
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Sums<3> skin, heart;
  for (long i = 1; i < data.n(); ++i) {
    const double s = data(i - 1, 0) - 5.0, h = data(i - 1, 1) - 70.0;
    skin.add({1, s, h}, data(i, 0) - 5.0 - 0.4 * s);
    heart.add({1, h, s}, data(i, 1) - 70.0 - 0.4 * h);
  }
  const auto evidence = [](const Sums<3>& sums, double log_noise, std::array<double, 3> sd) {
    return log_integral_around<1>({log_noise}, [&](std::array<double, 1> x) {
      return log_normal(x[0], log_noise, 0.3) + sums.evidence(std::exp(x[0]), sd);
    });
  };
  return evidence(skin, -0.9, {0.5, 0.15, p.has("to_skin") ? 0.02 : 0}) +
         evidence(heart, 1.1, {4, 0.15, p.has("to_heart") ? 1.5 : 0});
}

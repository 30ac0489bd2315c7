// Blood pressure on any of four predictors. Exact: a regression, quadrature over the noise.
#include <occam/simulator.h>

#include "more.h"

constexpr const char* kNames[] = {"b_age", "b_bmi", "b_salt", "b_activity"};
constexpr double kMiddle[] = {50, 26, 3300, 3}, kSd[] = {0.25, 0.8, 0.003, 1.5};

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const char* columns[] = {"age", "bmi", "salt", "activity"};
  for (long i = 0; i < out.n(); ++i) {
    double mean = p["level"];
    for (int k = 0; k < 4; ++k) {
      if (p.has(kNames[k])) mean += p[kNames[k]] * (out.design(i, columns[k]) - kMiddle[k]);
    }
    out(i, "pressure") = rng.normal(mean, p["noise"]);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Sums<5> sums;
  std::array<double, 5> x, sd;
  x[4] = 1;
  sd[4] = 10;
  for (int k = 0; k < 4; ++k) sd[k] = p.has(kNames[k]) ? kSd[k] : 0;
  for (long i = 0; i < data.n(); ++i) {
    for (int k = 0; k < 4; ++k) x[k] = data(i, k) - kMiddle[k];
    sums.add(x, data(i, 4) - 125.0);
  }
  return log_integral_around<1>({2.3}, [&](std::array<double, 1> s) {
    return log_normal(s[0], 2.3, 0.25) + sums.evidence(std::exp(s[0]), sd);
  });
}

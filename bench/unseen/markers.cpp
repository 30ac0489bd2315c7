// Lines of plants with thirty markers. Exact: probabilities are uniform a priori; sums over markers and pairs
// of them.
#include <occam/simulator.h>

#include "more.h"

constexpr int kMarkers = 30;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const long first = static_cast<long>(rng.integer(0, kMarkers - 1));
  const long second = (first + static_cast<long>(rng.integer(1, kMarkers - 1))) % kMarkers;
  double chance[4];
  for (double& one : chance) one = rng.uniform();
  const std::string a = "m" + std::to_string(first + 1), b = "m" + std::to_string(second + 1);
  for (long i = 0; i < out.n(); ++i) {
    int kind = 0;
    if (!p.is("none") && out.design(i, a) > 0.5) kind = 1;
    if (p.is("two") && out.design(i, b) > 0.5) kind += 2;
    out(i, "resists") = rng.bernoulli(chance[kind]);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto of = [&](int a, int b) {  // by two markers; -1: none
    double yes[4] = {}, no[4] = {}, sum = 0;
    for (long i = 0; i < data.n(); ++i) {
      int kind = 0;
      if (a >= 0 && data(i, a) > 0.5) kind = 1;
      if (b >= 0 && data(i, b) > 0.5) kind += 2;
      ++(data(i, kMarkers) > 0.5 ? yes : no)[kind];
    }
    for (int k = 0; k < 4; ++k) sum += log_beta(1 + yes[k], 1 + no[k]);
    return sum;
  };
  if (p.is("none")) return of(-1, -1);
  LogSum sum;
  for (int a = 0; a < kMarkers; ++a) {
    if (p.is("one")) sum.add(of(a, -1) - std::log(kMarkers));
    for (int b = 0; b < a && p.is("two"); ++b) sum.add(of(a, b) - std::log(kMarkers * (kMarkers - 1) / 2));
  }
  return sum.value();
}

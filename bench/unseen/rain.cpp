// A series that is exactly 0 on many days and continuous on the others. Exact: conjugate. The day before the
// first was dry.
#include <occam/simulator.h>

#include "more.h"

static double shape(const occam::Parameters& p) {
  return p.is("heavy") || p.is("heavy_spells") ? 0.6 : 1;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  bool wet = false;
  for (long i = 0; i < out.n(); ++i) {
    wet = rng.uniform() < (p.has("wet") ? p["wet"] : wet ? p["wet_after_wet"] : p["wet_after_dry"]);
    // What is too small for a float would be a dry day.
    out(i, "rain") = wet ? std::max(rng.gamma(shape(p)) / p["per_mm"], 1e-30) : 0;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double days[2][2] = {}, sum = 0, logs = 0, n = 0;
  int before = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, "rain");
    const int now = x > 0 ? 1 : 0;
    ++days[before][now];
    before = now;
    if (now == 0) continue;
    ++n;
    sum += x;
    logs += std::log(x);
  }
  const double a = shape(p);
  const double amounts = (a - 1) * logs - n * std::lgamma(a) + std::lgamma(3 + a * n) - std::lgamma(3.0) -
                         3 * std::log(0.1) - (3 + a * n) * std::log(sum + 10);
  if (p.has("wet"))
    return amounts + log_beta(2 + days[0][1] + days[1][1], 3 + days[0][0] + days[1][0]) - log_beta(2, 3);
  return amounts + log_beta(2 + days[0][1], 3 + days[0][0]) - log_beta(2, 3) +
         log_beta(3 + days[1][1], 2 + days[1][0]) - log_beta(3, 2);
}

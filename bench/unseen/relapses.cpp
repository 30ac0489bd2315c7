// A state that comes and goes, seen at irregular times. Exact: conjugate, or quadrature over share and
// memory.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    out(i, "day") = i == 0 ? 0 : out(i - 1, "day") + 0.5 + rng.gamma(0.8, 30);
    double probability = p["share"];
    if (i > 0 && p.has("lasting")) {
      const double kept = std::exp(-(double(out(i, "day")) - out(i - 1, "day")) / p["lasting"]);
      probability += kept * (out(i - 1, "depressed") - probability);
    }
    out(i, "depressed") = rng.uniform() < probability;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  double ones = 0;
  for (long i = 0; i < n; ++i) ones += data(i, 1);
  if (p.is("chance")) return log_beta(2 + ones, 3 + n - ones) - log_beta(2, 3);
  return log_integral_around<2>({-0.4, 3.5}, [&](std::array<double, 2> x) {
    const double share = logistic(x[0]), lasting = std::exp(x[1]);
    double sum = log_beta_logit(x[0], 2, 3) + log_normal(x[1], 3.5, 0.8);
    for (long i = 0; i < n; ++i) {
      double probability = share;
      if (i > 0) {
        const double kept = std::exp(-(double(data(i, 0)) - data(i - 1, 0)) / lasting);
        probability += kept * (data(i - 1, 1) - probability);
      }
      sum += std::log(data(i, 1) > 0.5 ? probability : 1 - probability);
    }
    return sum;
  });
}

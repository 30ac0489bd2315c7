// Words recalled by 6 to 40 people, more by some of them than by others. Exact: conjugate given mean and
// precision, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const int people = static_cast<int>(rng.integer(6, 40));
  std::vector<double> probability(people, p.has("mean") ? p["mean"] : 0.5);
  if (p.has("precision")) {
    for (double& one : probability) {
      const double a = rng.gamma(p["precision"] * p["mean"]);
      const double b = rng.gamma(p["precision"] * (1 - p["mean"]));
      one = a + b > 0 ? a / (a + b) : p["mean"];
    }
  }
  for (long i = 0; i < out.n(); ++i) {
    const long k = rng.integer(0, people - 1);
    out(i, "person") = static_cast<double>(k + 1);
    out(i, "recalled") = rng.uniform() < probability[k] ? 1 : 0;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double hits[41] = {}, misses[41] = {}, all_hits = 0, all_misses = 0;
  for (long i = 0; i < data.n(); ++i) {
    const int k = static_cast<int>(data(i, "person"));
    const bool hit = data(i, "recalled") > 0.5;
    (hit ? hits : misses)[k] += 1;
    (hit ? all_hits : all_misses) += 1;
  }
  if (p.is("guessing")) return static_cast<double>(data.n()) * std::log(0.5);
  if (p.is("alike")) return log_beta(2 + all_hits, 2 + all_misses) - log_beta(2.0, 2.0);
  const double start = std::log((all_hits + 1) / (all_misses + 1));
  return log_integral_around<2>({start, std::log(10.0)}, [&](std::array<double, 2> x) {
    const double mean = logistic(x[0]), precision = std::exp(x[1]);
    const double a = precision * mean, b = precision * (1 - mean);
    double sum = log_beta_logit(x[0], 2, 2) + log_gamma_log(x[1], 2, 5);
    for (int k = 1; k <= 40; ++k) {
      if (hits[k] + misses[k] > 0) sum += log_beta(a + hits[k], b + misses[k]) - log_beta(a, b);
    }
    return sum;
  });
}

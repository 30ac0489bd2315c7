// y = effect x + e, where x and e have Laplace distributions: so that the direction shows. Exact: conjugate
// given the effect, over which quadrature goes, in many steps: sizes have kinks.
#include <occam/simulator.h>

#include "more.h"

double laplace(occam::Random& rng, double scale) {
  const double size = rng.exponential(1 / scale);
  return rng.bernoulli(0.5) ? size : -size;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double sleep = laplace(rng, p["sleep_scale"]), mood = laplace(rng, p["mood_scale"]);
    if (p.is("sleep_first")) mood += p["effect"] * sleep;
    if (p.is("mood_first")) sleep += p["effect"] * mood;
    out(i, "sleep") = static_cast<float>(sleep);
    out(i, "mood") = static_cast<float>(mood);
  }
  return true;
}

// n values with this sum of sizes, scale ~ inverse_gamma(4, 3).
double log_scale_evidence(double n, double sizes) {
  return -n * std::log(2.0) + 4 * std::log(3.0) - std::lgamma(4.0) + std::lgamma(4 + n) -
         (4 + n) * std::log(3 + sizes);
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = static_cast<double>(data.n());
  const long from = p.is("mood_first") ? 1 : 0;
  const auto sizes = [&](long column, double effect) {
    double sum = 0;
    for (long i = 0; i < data.n(); ++i) sum += std::abs(data(i, column) - effect * data(i, 1 - column));
    return sum;
  };
  const double first = log_scale_evidence(n, sizes(from, 0));
  if (p.is("unrelated")) return first + log_scale_evidence(n, sizes(1 - from, 0));
  return first + log_integral(-3.5, 3.5, 500 * FINE, [&](double effect) {
           return log_normal(effect, 0, 0.5) + log_scale_evidence(n, sizes(1 - from, effect));
         });
}

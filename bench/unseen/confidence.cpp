// Detection of a tone with ratings. Exact: quadrature, from the counts of ratings with and without a tone;
// the standard deviation, or the share of sure answers, is integrated within.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const bool tone = out.design(i, "tone") > 0.5;
    double evidence = rng.normal();
    if (tone && p.has("strength")) evidence = p["strength"] + (p.is("unequal") ? p["sd"] : 1) * evidence;
    int rating = 1;
    for (int k = -2; k <= 2; ++k) rating += evidence > p["bias"] + k * p["spacing"] ? 1 : 0;
    if (tone && p.is("threshold") && rng.bernoulli(p["heard"])) rating = rng.bernoulli(p["sure"]) ? 6 : 5;
    out(i, "rating") = static_cast<float>(rating);
  }
  return true;
}

using Shares = std::array<double, 6>;

// Of ratings, for a normal variable with this mean and standard deviation.
Shares of_ratings(double mean, double sd, double bias, double spacing) {
  Shares shares;
  double below = 0, above = 1;  // of the last criterion
  for (std::size_t k = 0; k < 6; ++k) {
    const double z = k == 5 ? 1e9 : (bias + (static_cast<double>(k) - 2) * spacing - mean) / sd;
    const double tail = 0.5 * std::erfc(std::abs(z) / std::sqrt(2.0));
    const double next_below = z > 0 ? 1 - tail : tail, next_above = z > 0 ? tail : 1 - tail;
    shares[k] = z > 0 ? above - next_above : next_below - below;
    below = next_below;
    above = next_above;
  }
  return shares;
}

double log_likelihood(const Shares& counts, const Shares& shares) {
  double sum = 0;
  for (std::size_t k = 0; k < 6; ++k) {
    if (counts[k] > 0) sum += counts[k] * std::log(shares[k]);
  }
  return sum;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Shares none = {}, tone = {};
  for (long i = 0; i < data.n(); ++i)
    ++(data(i, 0) > 0.5 ? tone : none)[static_cast<std::size_t>(data(i, 1)) - 1];
  const bool threshold = p.is("threshold");
  return log_integral_around<3>(
      {threshold ? 0 : 1.2, 0.5, -0.7},
      [&](std::array<double, 3> x) {
        const double bias = x[1], spacing = std::exp(x[2]);
        const Shares guesses = of_ratings(0, 1, bias, spacing);
        const double sum =
            log_normal(bias, 0.5, 0.4) + log_normal(x[2], -0.7, 0.3) + log_likelihood(none, guesses);
        if (threshold) {
          const double heard = logistic(x[0]);
          double low = 0;
          for (std::size_t k = 0; k < 4; ++k) {
            if (tone[k] > 0) low += tone[k] * std::log((1 - heard) * guesses[k]);
          }
          return sum + log_beta_logit(x[0], 3, 4) + low + log_integral(0, 1, 6 * FINE, [&](double sure) {
                   return 3 * std::log(sure) + std::log1p(-sure) - log_beta(4, 2) +
                          tone[4] * std::log(heard * (1 - sure) + (1 - heard) * guesses[4]) +
                          tone[5] * std::log(heard * sure + (1 - heard) * guesses[5]);
                 });
        }
        const auto with = [&](double sd) {
          return log_likelihood(tone, of_ratings(x[0], sd, bias, spacing));
        };
        return sum + log_normal(x[0], 1.2, 0.5) +
               (p.is("equal") ? with(1) : log_integral(1, 2.2, 3 * FINE, with) - std::log(1.2));
      },
      0.7);
}

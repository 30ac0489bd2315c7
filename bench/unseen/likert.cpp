// Ratings of three items, 1 + binomial(4, level). Exact: beta priors are conjugate; quadrature over three
// parameters (two classes) or two (beta-binomial), since with one level for all items only the sum of a
// person's ratings counts.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const char* names[] = {"pay_level", "tasks_level", "colleagues_level"};
  for (long i = 0; i < out.n(); ++i) {
    double level = 0;
    if (p.is("classes")) level = p["low"] + (rng.bernoulli(p["share"]) ? p["gap"] * (1 - p["low"]) : 0);
    if (p.is("degrees")) level = rng.beta(p["mean"] * p["precision"], (1 - p["mean"]) * p["precision"]);
    for (long k = 0; k < 3; ++k) out(i, k) = 1 + rng.binomial(4, p.is("unrelated") ? p[names[k]] : level);
  }
  return true;
}

// Without the binomial coefficients, which all models share.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  double item[3] = {}, people[13] = {};
  for (long i = 0; i < data.n(); ++i) {
    int sum = 0;
    for (long k = 0; k < 3; ++k) {
      item[k] += data(i, k) - 1;
      sum += static_cast<int>(data(i, k)) - 1;
    }
    ++people[sum];
  }
  if (p.is("unrelated")) {
    double sum = 0;
    for (const double one : item) sum += log_beta(3 + one, 3 + 4 * n - one) - log_beta(3, 3);
    return sum;
  }
  if (p.is("degrees")) {
    return log_integral_around<2>({0, 1.5}, [&](std::array<double, 2> x) {
      const double a = std::exp(x[1]) * logistic(x[0]), b = std::exp(x[1]) * logistic(-x[0]);
      double sum = log_beta_logit(x[0], 3, 3) + log_normal(x[1], 1.5, 0.6) - n * log_beta(a, b);
      for (int k = 0; k <= 12; ++k) {
        if (people[k] > 0) sum += people[k] * log_beta(a + k, b + 12 - k);
      }
      return sum;
    });
  }
  return log_integral_around<3>(
      {0, -0.7, 0},
      [&](std::array<double, 3> x) {
        const double w = logistic(x[0]), low = logistic(x[1]), not_high = (1 - low) * logistic(-x[2]);
        const double odds1 = std::exp(x[1]), odds2 = (1 - not_high) / not_high;
        double a = (1 - w) * std::pow(1 - low, 12), b = w * std::pow(not_high, 12);
        double sum = log_beta_logit(x[0], 2, 2) + log_beta_logit(x[1], 2, 4) + log_beta_logit(x[2], 3, 3);
        for (int k = 0; k <= 12; ++k) {
          if (people[k] > 0) sum += people[k] * std::log(a + b);
          a *= odds1;
          b *= odds2;
        }
        return sum;
      },
      0.5);
}

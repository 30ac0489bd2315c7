// Choices between two spouts that give water with probabilities .75 and .25, which change places every 50
// trials. Exact: beta priors are conjugate; for Q-learning quadrature over alpha, and over beta by the
// trapezoidal rule.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double value[2] = {0.5, 0.5};
  int choice = 0, reward = 0;
  for (long i = 0; i < out.n(); ++i) {
    double right = 0.5;
    if (p.is("random")) right = p["right"];
    if (p.is("stay-shift") && i > 0) right = (choice == 1) == (reward == 1) ? 1 - p["slips"] : p["slips"];
    if (p.is("q-learning")) right = 1 / (1 + std::exp(-p["beta"] * (value[1] - value[0])));
    choice = rng.bernoulli(right);
    reward = rng.bernoulli((choice == 1) == (i / 50 % 2 == 0) ? 0.75 : 0.25);
    if (p.is("q-learning")) value[choice] += p["alpha"] * (reward - value[choice]);
    out(i, "choice") = choice;
    out(i, "reward") = reward;
  }
  return true;
}

// Rewards given choices have the same probability in all models.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  std::vector<int> choice(n), reward(n);
  double rights = 0, slips = 0;
  for (long i = 0; i < n; ++i) {
    choice[i] = data(i, "choice") == 1;
    reward[i] = data(i, "reward") == 1;
    rights += choice[i];
    if (i > 0) slips += (choice[i] == choice[i - 1]) != (reward[i - 1] == 1);
  }
  if (p.is("random")) return log_beta(5 + rights, 5 + n - rights) - log_beta(5, 5);
  if (p.is("stay-shift")) return log_beta(2 + slips, 6 + n - 1 - slips) - log_beta(2, 6) - std::log(2.0);
  constexpr int kBetas = 120 * FINE;
  constexpr double step = 0.25 / FINE;
  std::vector<double> log_prior(kBetas), power(kBetas), product(kBetas), sum(kBetas);
  for (int k = 1; k < kBetas; ++k) {
    const double beta = k * step;
    log_prior[k] = 3 * std::log(beta) - beta / 1.25 - std::lgamma(4.0) - 4 * std::log(1.25) + std::log(step);
  }
  return log_integral(0, 1, 12, [&](double u) {
    const double alpha = u * u * (3 - 2 * u);  // finer at both ends
    double value[2] = {0.5, 0.5};
    std::fill(product.begin(), product.end(), 1.0);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (long i = 0; i < n; ++i) {
      const int c = choice[i];
      const double factor = std::exp(-step * (value[c] - value[1 - c]));  // probability: 1 / (1 + factor^k)
      power[0] = 1;
      power[1] = factor;
      const double f2 = factor * factor, f4 = f2 * f2;
      power[2] = f2;
      power[3] = f2 * factor;
      for (int k = 4; k < kBetas; k += 4) {
        for (int m = 0; m < 4; ++m) power[k + m] = power[k + m - 4] * f4;
      }
      for (int k = 0; k < kBetas; ++k) product[k] *= 1 + power[k];
      if (i % 16 == 15 || i == n - 1) {
        for (int k = 0; k < kBetas; ++k) {
          sum[k] -= std::log(product[k]);
          product[k] = 1;
        }
      }
      value[c] += alpha * (reward[i] - value[c]);
    }
    LogSum all;
    for (int k = 1; k < kBetas; ++k) all.add(log_prior[k] + sum[k]);
    return all.value() + std::log(6 * alpha * (1 - alpha)) + std::log(6 * u * (1 - u));
  });
}
